package folder

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
	"github.com/dsconv/dsconv/internal/durable"
)

var _ formats.Incomplete = (*Dataset)(nil)

// Unreadable implements formats.Incomplete: the skipped files and folders that exist, and links that lead
// nowhere, by path.
func (d *Dataset) Unreadable() []string { return slices.Clone(d.unreadable) }

// Excludes implements formats.Incomplete: it reports whether there is a file at path, relative to the
// folder, that Config.Patterns leave out. If the folder cannot tell, it reports true.
func (d *Dataset) Excludes(path string) bool {
	if path == "" || d.filter.IncludesFile(path) {
		return false
	}
	_, err := d.in.Lstat(path)
	return !durable.IsMissing(err)
}

// listUnreadable sets d.unreadable.
func (d *Dataset) listUnreadable() {
	for _, k := range d.skips {
		// A row of a table may name a file that is not there.
		if _, err := d.in.Lstat(k.Path); !durable.IsMissing(err) {
			d.unreadable = append(d.unreadable, k.Path)
		}
	}
	slices.SortFunc(d.unreadable, strings.Compare)
}

var _ formats.Identifier = (*Dataset)(nil)

// Identify implements formats.Identifier: two folders, one of images and one of masks perhaps,
// may have files of the same names, sizes and times, and two tables may give the same files other
// labels.
func (d *Dataset) Identify(w io.Writer) error {
	if err := d.gate.Check(); err != nil {
		return err
	}
	all, err := d.in.Identify(w)
	if err != nil {
		return err
	}
	for i := range d.Len() {
		it, err := d.sample(i)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w, it.labels, it.columns); err != nil {
			return err
		}
		if all {
			continue
		}
		if err := d.identifyContent(w, &it.File); err != nil {
			return err
		}
		if err := d.fields.Identify(&it.File, w); err != nil {
			return err
		}
	}
	return nil
}

// identifyContent writes a file that has no time: its size alone does not tell that it is the same.
func (d *Dataset) identifyContent(w io.Writer, f *vfs.File) error {
	if f.ModTime != 0 {
		return nil
	}
	data, err := d.in.Read(f.Path, f.Size, f.ModTime, nil)
	if err != nil {
		return fmt.Errorf("read %s: %w", f.Path, err)
	}
	_, err = w.Write(data)
	return err
}
