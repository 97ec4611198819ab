package tables

import (
	"github.com/dsconv/dsconv/formats/folder/internal/sheet"
)

// files are the files that the rows of a sheet are about.
type files struct {
	of     *sheet.Sheet
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
func findEither(s *sheet.Sheet, find func(*sheet.Sheet) (files, error)) (files, error) {
	found, err := find(s)
	if err == nil && found.count() == len(s.Rows) {
		return found, nil
	}
	if other := s.FirstWords(); other != nil {
		if better, otherErr := find(other); otherErr == nil && better.count() > found.count() {
			return better, nil
		}
	}
	return found, err
}

// labels makes the files the table of the file of labels.
func (f *files) labels(r *sheet.Roles, file File) (t *Labels, err error) {
	i := -1
	t = &Labels{Labels: r.Labels, Field: r.Field, Classes: f.of.Classes, OneHot: r.OneHot, Doubt: r.Doubt}
	if t.Table, err = newTable(f.of, r, func(string) (foundPath, error) { i++; return f.found[i], nil }); err != nil {
		return nil, err
	}
	t.fits, t.Files, t.Notices = f.fits, []part{{file, 0}}, f.of.Notices(r, file.File, f.notice)
	return t, nil
}
