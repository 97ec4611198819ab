package durable

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// Exists reports whether there is something at path, a symbolic link included.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// IsMissing reports whether there is nothing at a path, or no folder where it leads through one.
func IsMissing(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// KindOf names what lies at a path, for errors.
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
