package folder

import (
	"fmt"
	"io"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

var _ formats.Identifier = (*Dataset)(nil)

// Identify implements formats.Identifier: two folders, one of images and one of masks perhaps,
// may have files of the same names, sizes and times, and two tables may give the same files other
// labels.
func (d *Dataset) Identify(w io.Writer) error {
	if err := d.gate.Check(); err != nil {
		return err
	}
	if w == nil {
		return fmt.Errorf("%s: Identify into a nil io.Writer", d.in)
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
