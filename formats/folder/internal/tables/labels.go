package tables

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// Labels is the table of all files of labels of a folder.
type Labels struct {
	*Table
	Roles
	Classes []string // that known files have besides those of their rows
	Notices []string // how the files were read, where that is not evident
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
func locate(s *Sheet, in vfs.FS, f File, labelColumns []string) (*Labels, error) {
	start := &pathFinder{in: in, folder: f.Folder}
	r, at, err := start.roles(s, labelColumns)
	if err == nil {
		err = s.missingLabels(&r)
	}
	if err != nil {
		return nil, err
	}
	find := func(s *Sheet) (files, error) {
		finder := *start
		return finder.resolve(s, at)
	}
	found, err := findEither(s, find)
	if err == nil && s.byClass && found.count() == 0 {
		for i, class := range s.column(slices.Index(s.Header, r.Labels[0])) {
			s.Rows[i][at] = class + "/" + s.Rows[i][at]
		}
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
	if err := checkColumnCount(len(columns)); err != nil {
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
		return fmt.Errorf("its label columns are %s, but those of %s are %s: name the same ones with --label-columns", ListOrNone(other.Labels), t.Files[0].File, ListOrNone(t.Labels))
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

// Stdin is the path of standard input.
const Stdin = "-"

// ListName is the name of a list in messages.
func ListName(file string) string {
	if file == Stdin {
		return "the list on standard input"
	}
	return file
}

// ReadList reads the list file and finds its images; input is what stdin stands for. root is the deepest folder that
// has all of them.
func ReadList(file string, input io.Reader, labelColumns []string) (root string, t *Labels, err error) {
	s, err := readListSheet(file, input)
	if err != nil {
		return "", nil, err
	}
	base := "."
	if file != Stdin {
		base = filepath.Dir(file)
	}
	if base, err = filepath.Abs(base); err != nil {
		return "", nil, err
	}
	r, at, err := (&pathFinder{in: vfs.OnDisk(base)}).roles(s, labelColumns)
	if err != nil {
		return "", nil, err
	}
	found, err := findEither(s, func(s *Sheet) (files, error) { return findListed(s, at, base) })
	if err != nil {
		return "", nil, err
	}
	root = commonRoot(found.found)
	t, err = found.labels(&r, File{"", ListName(file)})
	return root, t, err
}

func readListSheet(file string, input io.Reader) (*Sheet, error) {
	var b []byte
	var err error
	switch {
	case strings.EqualFold(filepath.Ext(file), ".parquet"):
		return readParquet(file)
	case file != Stdin:
		b, err = vfs.ReadText(vfs.OnDisk(""), file)
	case input == nil:
		return nil, errors.New("there is no input to read it from")
	default:
		if b, err = io.ReadAll(input); err == nil {
			b, err = vfs.PlainText(b)
		}
	}
	if err != nil {
		return nil, err
	}
	ext := strings.ToLower(path.Ext(file))
	if file == Stdin {
		if ext = ".txt"; strings.HasPrefix(strings.TrimSpace(string(b[:min(len(b), 1024)])), "{") {
			ext = ".jsonl"
		}
	}
	return Parse(b, ext)
}

// findListed finds the files that the paths of a list in the folder base mean. Those found are absolute.
func findListed(s *Sheet, at int, base string) (files, error) {
	paths := s.column(at)
	absolute := make([]string, len(paths))
	for i, p := range paths {
		if absolute[i] = p; p == "" {
			return files{}, fmt.Errorf("line %d: the path is empty", s.Lines[i])
		}
		if !filepath.IsAbs(p) {
			absolute[i] = base + "/" + p
		}
	}
	in := vfs.Watch(vfs.OnDisk("/"), nil, nil)
	f := &pathFinder{in: in}
	found, any := f.all(absolute, false)
	for i := range found {
		if found[i].exists {
			found[i].path = "/" + found[i].path
		} else {
			found[i].path = filepath.Clean(absolute[i])
		}
	}
	if !any {
		here := &pathFinder{in: vfs.OnDisk(base)}
		if moved, notice := here.elsewhere(paths, nil); moved != nil {
			if err := here.writeRest(s, paths, moved); err != nil {
				return files{}, err
			}
			for i := range moved {
				moved[i].path = filepath.Join(base, moved[i].path)
			}
			return files{of: s, found: moved, notice: notice}, nil
		}
	}
	return files{s, found, "", f.fits}, in.Err()
}

// commonRoot makes absolute paths relative to the deepest folder that has all of them, which it returns.
func commonRoot(found []foundPath) string {
	root := filepath.Dir(found[0].path)
	for _, f := range found {
		for root != "/" && !strings.HasPrefix(f.path, root+"/") {
			root = filepath.Dir(root)
		}
	}
	prefix := strings.TrimSuffix(root, "/") + "/"
	for i := range found {
		found[i].path = strings.TrimPrefix(found[i].path, prefix)
	}
	return root
}
