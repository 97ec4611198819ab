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
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
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

// Exists reports whether there is something at path, even a broken symbolic link.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// IsFile reports whether path is a regular file, or a link to one.
func IsFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

// IsDir reports whether path is a folder, or a link to one.
func IsDir(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// IsMissing reports whether err means that a path, or a folder in it, does not exist.
func IsMissing(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// CheckParent returns an error that is fs.ErrNotExist if the folder that path is in does not exist: a
// mistyped path should not become a tree of folders.
func CheckParent(path string) error {
	folder := filepath.Dir(filepath.Clean(path))
	if _, err := os.Stat(folder); err == nil || !IsMissing(err) {
		return nil // writing there returns other errors
	}
	return missingFolder{fmt.Errorf("%s: the folder %s is missing: correct the path, or create the folder first", path, folder)}
}

// missingFolder is an fs.ErrNotExist; its text is the error's own.
type missingFolder struct{ error }

func (missingFolder) Is(target error) bool { return target == fs.ErrNotExist }

// KindOf describes the kind of file for error messages.
func KindOf(m fs.FileMode) string {
	switch {
	case m.IsRegular():
		return "a file"
	case m.IsDir():
		return "a folder"
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	}
	return "neither a file nor a folder"
}

// CheckOwn returns an error if others than the user of this process may have made or changed the open file or folder: it
// belongs to somebody else, or others may write to it. Where a file system gives all files one owner or one mode, as FAT
// and network file systems that map users do, it must be as a new file beside it.
func CheckOwn(f *os.File) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	wrong := checkRights(st, os.Geteuid(), 0)
	if wrong == nil {
		return nil
	}
	// A file, because no other user can exchange what an open file is.
	beside, err := os.CreateTemp(filepath.Dir(filepath.Clean(f.Name())), ".*"+suffix)
	if err != nil {
		return wrong
	}
	defer func() { _, _ = beside.Close(), os.Remove(beside.Name()) }()
	fresh, err := beside.Stat()
	if err != nil || checkRights(st, OwnerOf(fresh), fresh.Mode().Perm()) != nil {
		return wrong
	}
	return nil
}

// checkRights returns an error if the file does not belong to uid, or if others than in mode may write to it.
func checkRights(st fs.FileInfo, uid int, mode fs.FileMode) error {
	if owner := OwnerOf(st); owner != uid {
		return fmt.Errorf("it belongs to %s and not to %s, who runs this", userName(owner), userName(os.Geteuid()))
	}
	if mode = st.Mode().Perm() &^ mode & 0o022; mode != 0 {
		return fmt.Errorf("others may write to it (its mode is %04o)", st.Mode().Perm())
	}
	return nil
}

// OwnerOf returns the number of the user to whom a file belongs, -1 if the system does not say.
func OwnerOf(st fs.FileInfo) int {
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		return int(sys.Uid)
	}
	return -1
}

// userName returns the name of a user, or the number if it has no name here.
func userName(uid int) string {
	id := strconv.Itoa(uid)
	if u, err := user.LookupId(id); err == nil && u.Username != "" {
		return u.Username
	}
	return "user " + id
}

// KeepRights gives the file or folder at path the mode of was and, where the system allows it, its owner and group.
func KeepRights(path string, was fs.FileInfo) error {
	mode := was.Mode().Perm()
	if sys, ok := was.Sys().(*syscall.Stat_t); ok && os.Lchown(path, int(sys.Uid), int(sys.Gid)) != nil && os.Lchown(path, -1, int(sys.Gid)) != nil {
		mode &^= 0o070 // these were the rights of another group: this one gets what everybody gets
		mode |= mode & 0o007 << 3
	}
	return os.Chmod(path, mode)
}
