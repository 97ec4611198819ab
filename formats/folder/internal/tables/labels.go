package tables

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/dsconv/dsconv/formats/folder/internal/sheet"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// Labels is the table of all files of labels of a folder.
type Labels struct {
	*Table
	Labels  []string // the label columns
	Field   string   // the name of the only label's field; "" is its column's
	Classes []string // that known files have besides those of their rows
	Notices []string // how the files were read, where that is not evident
	OneHot  bool     // the cells of the label list classes, which were columns of the file
	Doubt   string   // what label columns of 0 and 1 may be instead; "" for others
}

// ReadLabels reads the files of labels and finds their columns and images.
func ReadLabels(in vfs.FS, files []File, labelColumns []string) (*Labels, error) {
	var all *Labels
	for _, f := range files {
		one, err := readLabelFile(in, f, labelColumns)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = one
			continue
		}
		if err := all.add(one); err != nil {
			return nil, fmt.Errorf("%s: %w", f.File, err)
		}
	}
	return all, nil
}

func readLabelFile(in vfs.FS, f File, labelColumns []string) (*Labels, error) {
	if f.Folder != "" {
		if st, err := in.Stat(f.Folder); err != nil || !st.IsDir() {
			return nil, fmt.Errorf("labels %s=%s: there is no folder %s in %s", f.Folder, f.File, f.Folder, in)
		}
	}
	s, err := readSheet(in, f)
	if err != nil {
		return nil, err
	}
	t, err := locate(s, in, f, labelColumns)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.File, err)
	}
	return t, nil
}

// locate finds the columns of a sheet and the files of its rows.
func locate(s *sheet.Sheet, in vfs.FS, f File, labelColumns []string) (*Labels, error) {
	start := &pathFinder{in: in, folder: f.Folder}
	r, at, err := start.roles(s, labelColumns)
	if err == nil {
		err = s.MissingLabels(&r)
	}
	if err != nil {
		return nil, err
	}
	find := func(s *sheet.Sheet) (files, error) {
		finder := *start
		found, notice, bad, err := finder.resolve(s.Paths(at))
		if err != nil {
			return files{}, fmt.Errorf("line %d: %w", s.Lines[bad], err)
		}
		return files{s, found, notice, finder.fits}, nil
	}
	found, err := findEither(s, find)
	if err == nil && s.ByClass && found.count() == 0 {
		s.PutInClassFolders(at, r.Labels[0])
		found, err = find(s)
	}
	if err != nil {
		return nil, err
	}
	return found.labels(&r, f)
}

// add adds the rows of another file. Each has its own columns; label columns with the same role are one.
func (t *Labels) add(other *Labels) error {
	if err := t.agree(other); err != nil {
		return err
	}
	columns := slices.Clone(t.Columns)
	for _, name := range other.Columns {
		if !slices.Contains(columns, name) {
			columns = append(columns, name)
		}
	}
	if err := sheet.CheckColumnCount(len(columns)); err != nil {
		return err
	}
	t.widen(columns)
	other.widen(columns)
	n := len(t.Paths)
	for i, p := range other.Paths {
		if _, twice := t.Rows[p]; twice {
			return fmt.Errorf("line %d: the image %s is listed in %s too", other.lineNumbers[i], p, t.Files[0].File)
		}
		t.Rows[p] = other.Rows[p]
	}
	t.Paths, t.Exists = append(t.Paths, other.Paths...), append(t.Exists, other.Exists...)
	t.lineNumbers = append(t.lineNumbers, other.lineNumbers...)
	t.Files = append(t.Files, part{other.Files[0].File, n})
	t.Classes, t.Notices = append(t.Classes, other.Classes...), append(t.Notices, other.Notices...)
	t.Nested, t.fits = merged(t.Nested, other.Nested), merged(t.fits, other.fits)
	return nil
}

// merged adds what b has to a.
func merged[V any](a, b map[string]V) map[string]V {
	if a == nil {
		return b
	}
	maps.Copy(a, b)
	return a
}

// agree gives the only label column of each table the same name; the error is that they have other ones.
func (t *Labels) agree(other *Labels) error {
	if slices.Equal(t.Labels, other.Labels) && t.OneHot == other.OneHot {
		return nil
	}
	if len(t.Labels) != 1 || len(other.Labels) != 1 {
		return fmt.Errorf("its label columns are %s, but those of %s are %s: name the same ones with --label-columns", sheet.ListOrNone(other.Labels), t.Files[0].File, sheet.ListOrNone(t.Labels))
	}
	return cmp.Or(t.renameLabel(), other.renameLabel())
}

// renameLabel names the label column "label".
func (t *Labels) renameLabel() error {
	if t.Labels[0] == "label" {
		return nil
	}
	if slices.Contains(t.Columns, "label") {
		return fmt.Errorf("it has the columns %s and label: give its labels the header label", t.Labels[0])
	}
	if line, ok := t.Nested[t.Labels[0]]; ok {
		t.Nested["label"] = line
	}
	t.Columns[slices.Index(t.Columns, t.Labels[0])] = "label"
	t.Labels, t.Field = []string{"label"}, ""
	return nil
}

// widen gives the rows these columns, among which are all that they have.
func (t *Labels) widen(columns []string) {
	if slices.Equal(columns, t.Columns) {
		return
	}
	at := make([]int, len(t.Columns))
	for i, name := range t.Columns {
		at[i] = slices.Index(columns, name)
	}
	for p, row := range t.Rows {
		wide := make([]string, len(columns))
		for i, cell := range row {
			wide[at[i]] = cell
		}
		t.Rows[p] = wide
	}
	t.Columns = columns
}
