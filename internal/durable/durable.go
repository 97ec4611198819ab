// Package durable writes files that are whole or not there, whatever stops the program or
// the machine. All of dsconv writes such files through it.
package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// suffix ends the names of files that are being written; a kill may leave one.
const suffix = ".dsconv-new"

// WriteFile makes the file at path of b; see Write.
func WriteFile(path string, b []byte) error {
	return Write(path, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// Write makes the file at path of what write writes, in place of the one that is there, if
// any. The bytes and then the name are on the disk when it returns; before, and after an
// error, path is what it was. A symbolic link at path is an error, and stays: it is not
// Write's to replace, nor is what it leads to. A pipe or a device is written to.
func Write(path string, write func(w io.Writer) error) error {
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() && !st.IsDir() {
		return writeTo(path, write)
	}
	if st, err := os.Lstat(path); err == nil && !st.Mode().IsRegular() {
		return fmt.Errorf("write %s: it is there and is not a file: give another path", path)
	}
	f, err := create(path)
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return SyncDir(filepath.Dir(path))
}

func writeTo(path string, write func(w io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// create makes a new file beside path, with a name that nothing has.
func create(path string) (*os.File, error) {
	dir, base := filepath.Split(path)
	if len(base) > 200 {
		base = base[:200] // the whole name must not be longer than a file system allows
	}
	for range 100 {
		name := fmt.Sprintf("%s.%s.%08x%s", dir, base, rand.Uint32(), suffix)
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
	return nil, fmt.Errorf("write %s: no name is free for the new file", path)
}

// IsTemporary reports whether Write gives such a name to a file that it has not finished.
func IsTemporary(name string) bool {
	return strings.HasPrefix(name, ".") && strings.HasSuffix(name, suffix)
}

// SyncDir makes the names in a folder survive a loss of power.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
