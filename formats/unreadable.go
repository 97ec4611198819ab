package formats

import (
	"errors"
	"io/fs"
	"slices"
	"syscall"
)

// noSuchFile are the errors of the system that are about one name: there is nothing, or something else than a file.
var noSuchFile = []syscall.Errno{
	syscall.ENOENT, syscall.ENOTDIR, syscall.EISDIR, syscall.ELOOP, syscall.ENAMETOOLONG, syscall.EILSEQ,
	syscall.EINVAL, // a name with a NUL byte
}

// Unreadable reports whether err says that bytes could not be read: the disk, the mount, the network or the rights failed.
// Then nothing is known about the bytes, and a run must not leave out what it could not read. It reports false for bytes
// that were read and are wrong, and for a name that has no file.
func Unreadable(err error) bool {
	if errno := syscall.Errno(0); errors.As(err, &errno) {
		return !slices.Contains(noSuchFile, errno)
	}
	var wait interface{ Timeout() bool }
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrClosed) || errors.As(err, &wait) && wait.Timeout()
}
