package folder

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
)

// table is a parsed file of labels, or several: one row per path.
type table struct {
	columns     []string            // without the path column, in the file's order
	rows        map[string][]string // by path
	paths       []string            // paths in the file's order
	exists      []bool              // whether the file of each path exists; nil if not known yet
	lineNumbers []int               // of each path
	nested      map[string]int      // columns that have an object or a list, and the first line of one
	files       []tablePart         // the files that the rows are from
	fits        map[string][]string // images that a path without extension may mean, if they are several
}

// tablePart is a file of a table and its first row.
type tablePart struct {
	labelFile
	first int
}

// readTable reads the table of a description, whose paths are in the column "path" and exact. Errors name the
// file, the line and what was expected.
func readTable(in filesystem, file string) (*table, error) {
	s, err := readSheet(in, labelFile{"", file})
	if err != nil {
		return nil, err
	}
	r := columnRoles{}
	if r.path, err = s.pathColumn(); err == nil {
		var t *table
		if t, err = newTable(s, &r, func(p string) (foundPath, error) {
			rel, err := relative(in, p)
			return foundPath{path: rel}, err
		}); err == nil {
			t.exists = nil
			t.files = []tablePart{{labelFile{"", file}, 0}}
			return t, nil
		}
	}
	return nil, fmt.Errorf("%s: %w", file, err)
}

// newTable makes the rows of a sheet those of the files that locate returns for their paths.
func newTable(s *sheet, r *columnRoles, locate func(p string) (foundPath, error)) (*table, error) {
	at, err := s.position(r)
	if err != nil {
		return nil, err
	}
	t := &table{columns: slices.Delete(slices.Clone(s.header), at, at+1), rows: make(map[string][]string, len(s.rows)), lineNumbers: s.lines, nested: s.nested}
	first := make(map[string]int, len(s.rows))
	for i, row := range s.rows {
		f, err := locate(row[at])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", s.lines[i], err)
		}
		if line, twice := first[f.path]; twice {
			return nil, fmt.Errorf("line %d: the path %q is a duplicate of line %d", s.lines[i], f.path, line)
		}
		first[f.path] = s.lines[i]
		t.rows[f.path] = slices.Delete(row, at, at+1)
		t.paths, t.exists = append(t.paths, f.path), append(t.exists, f.exists)
	}
	return t, nil
}

// fileOf returns the file that row i is from.
func (t *table) fileOf(i int) *labelFile {
	k := len(t.files) - 1
	for k > 0 && t.files[k].first > i {
		k--
	}
	return &t.files[k].labelFile
}

// where returns the place of row i for messages, which name the file only if the table has several.
func (t *table) where(i int) string {
	if len(t.files) > 1 {
		return fmt.Sprintf("%s: line %d", t.fileOf(i).file, t.lineNumbers[i])
	}
	return fmt.Sprintf("line %d", t.lineNumbers[i])
}

// relative returns a table's path relative to the root. It may lead outside: then no file of the
// folder has it.
func relative(in filesystem, p string) (string, error) {
	if p == "" {
		return "", errors.New("the path is empty")
	}
	if !filepath.IsAbs(p) {
		return path.Clean(p), nil
	}
	return in.relative(p)
}

// column returns the position of the named column; the error lists the existing ones.
func (t *table) column(name string) (int, error) {
	i := slices.Index(t.columns, name)
	if i < 0 {
		return 0, fmt.Errorf("no column %q among %s", name, listNames(t.columns))
	}
	return i, nil
}
