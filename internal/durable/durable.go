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
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"
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
// Write's to replace, nor is what it leads to. A pipe, a device or an open file of the process,
// such as /dev/stdout, is written to.
func Write(path string, write func(w io.Writer) error) error {
	if isStream(path) {
		return writeTo(path, write)
	}
	if err := Check(path); err != nil {
		return err
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

// Check reports what at path Write would refuse to replace, for whoever has much work to do
// before it writes.
func Check(path string) error {
	if st, err := os.Lstat(path); err == nil && !st.Mode().IsRegular() && !isStream(path) {
		return fmt.Errorf("write %s: it is there and is not a file: give another path", path)
	}
	return nil
}

// isStream reports whether path is something that is written to and not replaced.
func isStream(path string) bool {
	if _, ok := Descriptor(path); ok {
		return true
	}
	st, err := os.Stat(path)
	return err == nil && !st.Mode().IsRegular() && !st.IsDir()
}

// Descriptor is the number of the open file of this process that path, /dev/stdout or another
// such name, stands for.
func Descriptor(path string) (fd int, ok bool) {
	for range 10 { // links
		switch dir, base := filepath.Split(filepath.Clean(path)); dir {
		case "/dev/fd/", "/proc/self/fd/":
			fd, err := strconv.Atoi(base)
			return fd, err == nil && fd >= 0
		default:
			to, err := os.Readlink(path)
			if err != nil {
				return 0, false
			}
			if path = to; !filepath.IsAbs(to) {
				path = filepath.Join(dir, to)
			}
		}
	}
	return 0, false
}

func writeTo(path string, write func(w io.Writer) error) error {
	f, err := openStream(path)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// openStream opens what isStream reports. An open file is gone on with where it stands: to open
// it anew would write over its beginning.
func openStream(path string) (*os.File, error) {
	fd, ok := Descriptor(path)
	if !ok {
		return os.OpenFile(path, os.O_WRONLY, 0)
	}
	own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(own), path), nil
}

// create makes a new file beside path, with a name that nothing has.
func create(path string) (*os.File, error) {
	dir, base := filepath.Split(path)
	base = shorten(base, 200) // the whole name must not be longer than a file system allows
	for range 100 {
		name := fmt.Sprintf("%s.%s.%08x%s", dir, base, rand.Uint32(), suffix)
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
	return nil, fmt.Errorf("write %s: no name is free for the new file", path)
}

// shorten cuts s to n bytes, at the beginning of a character: some file systems refuse half of
// one.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
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
