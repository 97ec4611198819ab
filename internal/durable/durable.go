// Package durable writes files that are either whole or missing, whatever stops the program or
// the machine. All of dsconv writes such files through it.
package durable

import (
	"encoding/json"
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

// suffix ends the names of unfinished files; a kill may leave one.
const suffix = ".dsconv-new"

// WriteFile writes b to the file at path; see Write.
func WriteFile(path string, b []byte) error {
	return Write(path, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// WriteJSON writes v as indented JSON to the file at path; see Write.
func WriteJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return WriteFile(path, append(b, '\n'))
}

// Write replaces the file at path, if any, by what write writes. When it returns, the bytes and
// then the name are on the disk; until then, and after an error, path is what it was. The new file
// has the mode of the one it replaces and, where the system allows it, the owner and group. A symbolic
// link at path is an error: Write replaces neither the link nor its target. Write writes into a
// pipe, a device or an open file of the process, such as /dev/stdout.
func Write(path string, write func(w io.Writer) error) error {
	if isStream(path) {
		return writeTo(path, write)
	}
	return Build(path, func(f *os.File) error { return write(f) })
}

// Build is Write for what is not written from its beginning to its end: build gets the new file, which it
// may read too. path must not be a pipe or a device.
func Build(path string, build func(f *os.File) error) error {
	if err := Check(path); err != nil {
		return err
	}
	return buildAt(path, build, os.Rename)
}

// BuildNew is Build of a file that does not exist: if there is one when it is complete, that one stays, and
// the error is fs.ErrExist. The file system must have hard links.
func BuildNew(path string, build func(f *os.File) error) error {
	return buildAt(path, build, func(from, to string) error {
		if err := os.Link(from, to); err != nil {
			return err
		}
		return os.Remove(from)
	})
}

// buildAt builds a file beside path, to which move brings it.
func buildAt(path string, build func(f *os.File) error, move func(from, to string) error) error {
	f, err := create(path)
	if err != nil {
		return err
	}
	err = build(f)
	if was, lerr := os.Lstat(path); err == nil && lerr == nil && was.Mode().IsRegular() {
		err = KeepRights(f.Name(), was)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = move(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return SyncDir(filepath.Dir(path))
}

// Check returns the error that Write would return because of what exists at path, for callers
// with much work to do before they write.
func Check(path string) error {
	if st, err := os.Lstat(path); err == nil && !st.Mode().IsRegular() && !isStream(path) {
		return fmt.Errorf("write %s: it exists and is not a file: give another path", path)
	}
	return nil
}

// isStream reports whether Write writes into path instead of replacing it.
func isStream(path string) bool {
	if _, ok := Descriptor(path); ok {
		return true
	}
	st, err := os.Stat(path)
	return err == nil && !st.Mode().IsRegular() && !st.IsDir()
}

// Descriptor returns the number of the open file of this process that a path such as
// /dev/stdout names.
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

// openStream opens a path that isStream reports. An open file is duplicated and keeps its
// offset: opening it again would overwrite its beginning.
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

// create creates a file beside path with a name that is free.
func create(path string) (*os.File, error) {
	dir, base := filepath.Split(path)
	mode := fs.FileMode(0o666)
	if was, err := os.Lstat(path); err == nil && was.Mode().IsRegular() {
		mode &= was.Mode() // nobody may read the new file who could not read the old one
	}
	for range 100 {
		name := dir + TemporaryName(base)
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
	return nil, fmt.Errorf("write %s: no free name for a temporary file in its folder", path)
}

// TemporaryName returns a name for an unfinished file that will be called name.
func TemporaryName(name string) string {
	// The whole must not be longer than a file system allows.
	return fmt.Sprintf(".%s.%08x%s", shorten(name, 200), rand.Uint32(), suffix)
}

// shorten cuts s to at most n bytes without splitting a character: some file systems refuse
// half of one.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// IsTemporary reports whether name is one that Write gives to an unfinished file.
func IsTemporary(name string) bool {
	return strings.HasPrefix(name, ".") && strings.HasSuffix(name, suffix)
}

// SyncDir makes the names in a folder survive a power failure.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
