// Package tables has the rows of files of labels by the images that they are about, whatever way the files write paths.
package tables

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"

	"github.com/dsconv/dsconv/formats/folder/internal/sheet"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// Table is a parsed file of labels, or several: one row per path.
type Table struct {
	Columns     []string            // without the path column, in the file's order
	Rows        map[string][]string // by path
	Paths       []string            // paths in the file's order
	Exists      []bool              // whether the file of each path exists; nil if not known yet
	lineNumbers []int               // of each path
	Nested      map[string]int      // columns that have an object or a list, and the first line of one
	Files       []part              // the files that the rows are from
	fits        map[string][]string // images that a path without extension may mean, if they are several
}

// part is a file of a table and its first row.
type part struct {
	File
	first int
}

// Read reads the table of a description, whose paths are in the column "path" and exact. Errors name the
// file, the line and what was expected.
func Read(in vfs.FS, file string) (*Table, error) {
	s, err := readSheet(in, File{"", file})
	if err != nil {
		return nil, err
	}
	r := sheet.Roles{}
	if r.Path, err = s.PathColumn(); err == nil {
		var t *Table
		if t, err = newTable(s, &r, func(p string) (foundPath, error) {
			rel, err := relative(in, p)
			if vfs.HasSpellings(rel) {
				rel, _ = vfs.Spelled(in, rel)
			}
			return foundPath{path: rel}, err
		}); err == nil {
			t.Exists = nil
			t.Files = []part{{File{"", file}, 0}}
			return t, nil
		}
	}
	return nil, fmt.Errorf("%s: %w", file, err)
}

// newTable makes the rows of a sheet those of the files that locate returns for their paths.
func newTable(s *sheet.Sheet, r *sheet.Roles, locate func(p string) (foundPath, error)) (*Table, error) {
	at, err := s.Position(r)
	if err != nil {
		return nil, err
	}
	t := &Table{Columns: slices.Delete(slices.Clone(s.Header), at, at+1), Rows: make(map[string][]string, len(s.Rows)), lineNumbers: s.Lines, Nested: s.Nested}
	first := make(map[string]int, len(s.Rows))
	for i, row := range s.Rows {
		f, err := locate(row[at])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", s.Lines[i], err)
		}
		if line, twice := first[f.path]; twice {
			return nil, fmt.Errorf("line %d: the path %q is a duplicate of line %d", s.Lines[i], f.path, line)
		}
		first[f.path] = s.Lines[i]
		t.Rows[f.path] = slices.Delete(row, at, at+1)
		t.Paths, t.Exists = append(t.Paths, f.path), append(t.Exists, f.exists)
	}
	return t, nil
}

// fileOf returns the file that row i is from.
func (t *Table) fileOf(i int) *File {
	k := len(t.Files) - 1
	for k > 0 && t.Files[k].first > i {
		k--
	}
	return &t.Files[k].File
}

// Where returns the place of row i for messages, which name the file only if the table has several.
func (t *Table) Where(i int) string {
	if len(t.Files) > 1 {
		return fmt.Sprintf("%s: line %d", t.fileOf(i).File, t.lineNumbers[i])
	}
	return fmt.Sprintf("line %d", t.lineNumbers[i])
}

// relative returns a table's path relative to the root. It may lead outside: then no file of the
// folder has it.
func relative(in vfs.FS, p string) (string, error) {
	if p == "" {
		return "", errors.New("the path is empty")
	}
	if !filepath.IsAbs(p) {
		return path.Clean(p), nil
	}
	return in.Relative(p)
}

// Column returns the position of the named column; the error lists the existing ones.
func (t *Table) Column(name string) (int, error) {
	i := slices.Index(t.Columns, name)
	if i < 0 {
		return 0, fmt.Errorf("no column %q among %s", name, sheet.ListNames(t.Columns))
	}
	return i, nil
}
