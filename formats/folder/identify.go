package folder

import (
	"fmt"
	"io"
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
	root, err := filepath.Abs(d.root)
	if err != nil {
		return err
	}
	st, err := os.Stat(root)
	if err != nil {
		return err
	}
	var inode any // another folder may have been moved to the same path
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		inode = sys.Ino
	}
	if _, err := fmt.Fprintf(w, "%q %v\n", root, inode); err != nil {
		return err
	}
	for i := range d.samples {
		if _, err := fmt.Fprintln(w, d.samples[i].labels, d.samples[i].columns); err != nil {
			return err
		}
	}
	return nil
}
