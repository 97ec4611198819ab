package folder

import (
	"fmt"
	"slices"
)

// labelTable is the table of all files of labels of a folder.
type labelTable struct {
	*table
	labels  []string // the label columns
	field   string   // the name of the only label's field; "" is its column's
	classes []string // that known files have besides those of their rows
	notices []string // how the files were read, where that is not evident
}

// readLabels reads the files of labels and finds their columns and images.
func readLabels(in filesystem, files []labelFile, labelColumns []string) (*labelTable, error) {
	var all *labelTable
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
			return nil, fmt.Errorf("%s: %w", f.file, err)
		}
	}
	return all, nil
}

func readLabelFile(in filesystem, f labelFile, labelColumns []string) (*labelTable, error) {
	if f.folder != "" {
		if st, err := in.stat(f.folder); err != nil || !st.IsDir() {
			return nil, fmt.Errorf("labels %s=%s: there is no folder %s in %s", f.folder, f.file, f.folder, in)
		}
	}
	s, err := readSheet(in, f)
	if err != nil {
		return nil, err
	}
	t, err := locate(s, in, f, labelColumns)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.file, err)
	}
	return t, nil
}

// locate finds the columns of a sheet and the files of its rows.
func locate(s *sheet, in filesystem, f labelFile, labelColumns []string) (*labelTable, error) {
	r, err := s.roles(labelColumns)
	if err != nil {
		return nil, err
	}
	at, err := s.position(&r)
	if err != nil {
		return nil, err
	}
	finder := &pathFinder{in: in, folder: f.folder}
	found, notice, bad, err := finder.resolve(s.paths(at))
	if err != nil {
		return nil, fmt.Errorf("line %d: %w", s.lines[bad], err)
	}
	if s.byClass && !slices.ContainsFunc(found, func(p foundPath) bool { return p.exists }) {
		s.putInClassFolders(at, r.labels[0])
		if found, notice, bad, err = finder.resolve(s.paths(at)); err != nil {
			return nil, fmt.Errorf("line %d: %w", s.lines[bad], err)
		}
	}
	i := -1
	t := &labelTable{labels: r.labels, field: r.field, classes: s.classes}
	if t.table, err = newTable(s, &r, func(string) (foundPath, error) { i++; return found[i], nil }); err != nil {
		return nil, err
	}
	t.fits, t.files = finder.fits, []tablePart{{f, 0}}
	t.notices = s.notices(&r, f.file, notice)
	return t, nil
}

// add adds the rows of another file. Each has its own columns; label columns with the same role are one.
func (t *labelTable) add(other *labelTable) error {
	if err := t.agree(other); err != nil {
		return err
	}
	columns := slices.Clone(t.columns)
	for _, name := range other.columns {
		if !slices.Contains(columns, name) {
			columns = append(columns, name)
		}
	}
	if err := checkColumnCount(len(columns)); err != nil {
		return err
	}
	t.widen(columns)
	other.widen(columns)
	n := len(t.paths)
	for i, p := range other.paths {
		if _, twice := t.rows[p]; twice {
			return fmt.Errorf("line %d: the image %s is listed in %s too", other.lineNumbers[i], p, t.files[0].file)
		}
		t.rows[p] = other.rows[p]
	}
	t.paths, t.exists = append(t.paths, other.paths...), append(t.exists, other.exists...)
	t.lineNumbers = append(t.lineNumbers, other.lineNumbers...)
	t.files = append(t.files, tablePart{other.files[0].labelFile, n})
	t.classes, t.notices = append(t.classes, other.classes...), append(t.notices, other.notices...)
	for name, line := range other.nested {
		if t.nested == nil {
			t.nested = map[string]int{}
		}
		t.nested[name] = line
	}
	for p, fits := range other.fits {
		if t.fits == nil {
			t.fits = map[string][]string{}
		}
		t.fits[p] = fits
	}
	return nil
}

// agree gives the only label column of each table the same name; the error is that they have other ones.
func (t *labelTable) agree(other *labelTable) error {
	if slices.Equal(t.labels, other.labels) {
		return nil
	}
	if len(t.labels) != 1 || len(other.labels) != 1 {
		return fmt.Errorf("its label columns are %s, but those of %s are %s: name the same ones with --label-columns", orNone(other.labels), t.files[0].file, orNone(t.labels))
	}
	return errorOf(t.renameLabel(), other.renameLabel())
}

// errorOf returns the first error.
func errorOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// renameLabel names the label column "label".
func (t *labelTable) renameLabel() error {
	if t.labels[0] == "label" {
		return nil
	}
	if slices.Contains(t.columns, "label") {
		return fmt.Errorf("it has the columns %s and label: give its labels the header label", t.labels[0])
	}
	if line, ok := t.nested[t.labels[0]]; ok {
		t.nested["label"] = line
	}
	t.columns[slices.Index(t.columns, t.labels[0])] = "label"
	t.labels, t.field = []string{"label"}, ""
	return nil
}

// widen gives the rows these columns, among which are all that they have.
func (t *labelTable) widen(columns []string) {
	if slices.Equal(columns, t.columns) {
		return
	}
	at := make([]int, len(t.columns))
	for i, name := range t.columns {
		at[i] = slices.Index(columns, name)
	}
	for p, row := range t.rows {
		wide := make([]string, len(columns))
		for i, cell := range row {
			wide[at[i]] = cell
		}
		t.rows[p] = wide
	}
	t.columns = columns
}
