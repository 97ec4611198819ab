package durable

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

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
