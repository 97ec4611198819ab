// Package tables has the rows of files of labels by the images that they are about, whatever way the files write paths: CSV,
// TSV, JSON, JSON Lines, lines of text, Parquet, and ImageNet's own, which are Kaggle's solutions and the development kit of
// ILSVRC2012. A Sheet is their cells, before any image is looked at.
package tables

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

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
	r := Roles{}
	if r.path, err = s.pathColumn(); err == nil {
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
func newTable(s *Sheet, r *Roles, locate func(p string) (foundPath, error)) (*Table, error) {
	at, err := s.position(r)
	if err != nil {
		return nil, err
	}
	t := &Table{Columns: slices.Delete(slices.Clone(s.Header), at, at+1), Rows: make(map[string][]string, len(s.Rows)), lineNumbers: s.Lines, Nested: s.nested}
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
		return 0, fmt.Errorf("no column %q among %s", name, ListNames(t.Columns))
	}
	return i, nil
}

// File is a file of labels and the folder whose images it lists.
type File struct {
	Folder string // relative, with slashes; "" is the root
	File   string
}

// Covering returns the file of labels for the image at rel, that of the deepest folder; nil for none.
func Covering(files []File, rel string) *File {
	var found *File
	for i := range files {
		f := &files[i]
		if holds := f.Folder == "" || strings.HasPrefix(rel, f.Folder+"/"); holds && (found == nil || len(f.Folder) > len(found.Folder)) {
			found = f
		}
	}
	return found
}

// Names lists the files for a message.
func Names(files []File) string {
	list := make([]string, len(files))
	for i := range files {
		list[i] = files[i].File
	}
	return strings.Join(list, ", ")
}

// files are the files that the rows of a sheet are about.
type files struct {
	of     *Sheet
	found  []foundPath
	notice string              // how the paths were read
	fits   map[string][]string // see Table
}

// count returns the number of files that exist.
func (f *files) count() (n int) {
	for i := range f.found {
		if f.found[i].exists {
			n++
		}
	}
	return n
}

// findEither finds the files of s. If some do not exist, and lines may be read in another way, which finds more, then
// it is that way for the whole file.
func findEither(s *Sheet, find func(*Sheet) (files, error)) (files, error) {
	found, err := find(s)
	if err == nil && found.count() == len(s.Rows) {
		return found, nil
	}
	if other := s.firstWords(); other != nil {
		if better, otherErr := find(other); otherErr == nil && better.count() > found.count() {
			return better, nil
		}
	}
	return found, err
}

// labels makes the files the table of the file of labels.
func (f *files) labels(r *Roles, file File) (t *Labels, err error) {
	i := -1
	t = &Labels{Roles: *r, Classes: f.of.classes}
	if t.Table, err = newTable(f.of, r, func(string) (foundPath, error) { i++; return f.found[i], nil }); err != nil {
		return nil, err
	}
	t.fits, t.Files, t.Notices = f.fits, []part{{file, 0}}, f.of.notices(r, file.File, f.notice)
	return t, nil
}

// readSheet reads a file of labels of any kind. Errors name the file.
func readSheet(in vfs.FS, f File) (*Sheet, error) {
	if s, err := readDevkit(in, f.File, f.Folder); s != nil || err != nil {
		return s, err
	}
	s, err := ReadSheet(in, f.File)
	if err != nil {
		return nil, err
	}
	if err := recognize(s); err != nil {
		return nil, fmt.Errorf("%s: %w", f.File, err)
	}
	if s.known != groundTruth {
		return s, nil
	}
	b, err := vfs.ReadText(in, f.File)
	if err != nil {
		return nil, fmt.Errorf("read the labels: %w", err)
	}
	return readGroundTruth(in, f.File, f.Folder, b)
}

// ReadSheet reads a table. Errors name the file.
func ReadSheet(in vfs.FS, file string) (*Sheet, error) {
	ext := strings.ToLower(path.Ext(file))
	read := vfs.ReadText
	if ext == ".parquet" {
		read = vfs.ReadBytes
	}
	b, err := read(in, file)
	if err != nil {
		return nil, fmt.Errorf("read the labels: %w", err)
	}
	if ext == ".parquet" {
		return parseParquet(file, b)
	}
	s, err := Parse(b, ext)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}
