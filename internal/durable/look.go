package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

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
