package folder

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/dsconv/dsconv/formats"
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
	all, err := d.in.identify(w)
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
		if err := d.identifyContent(w, &it.file); err != nil {
			return err
		}
		if err := d.fields.identify(it, w); err != nil {
			return err
		}
	}
	return nil
}

// identifyContent writes a file that has no time: its size alone does not tell that it is the same.
func (d *Dataset) identifyContent(w io.Writer, f *file) error {
	if f.modTime != 0 {
		return nil
	}
	data, err := d.in.read(f.path, f.size, f.modTime, nil)
	if err != nil {
		return fmt.Errorf("read %s: %w", f.path, err)
	}
	_, err = w.Write(data)
	return err
}

func (d disk) identify(w io.Writer) (all bool, err error) {
	root, err := filepath.Abs(string(d))
	if err != nil {
		return false, err
	}
	st, err := os.Stat(root)
	if err != nil {
		return false, err
	}
	_, err = fmt.Fprintf(w, "%q %v\n", root, inodeOf(st))
	return false, err
}

func (v virtual) identify(w io.Writer) (all bool, err error) {
	st, err := v.stat("")
	if err != nil {
		return false, err
	}
	_, err = fmt.Fprintf(w, "%T %v\n", v.FS, inodeOf(st))
	return false, err
}

// inodeOf returns the number of a folder of the disk: another one may have been moved to the same path.
func inodeOf(st fs.FileInfo) any {
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		return sys.Ino
	}
	return nil
}
