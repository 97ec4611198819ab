package durable

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// Exists reports whether there is something at path, even a broken symbolic link.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// IsMissing reports whether err means that a path, or a folder in it, does not exist.
func IsMissing(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

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
