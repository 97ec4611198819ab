// Package unblocked opens the files of strangers without waiting. Opening a pipe waits for its writer, and nothing can
// interrupt that; reading one to see what it is takes bytes away from whom they are for. A test makes the packages that read
// datasets and sources use it.
package unblocked

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// errNotRegular is the error about a pipe, a socket or a device.
var errNotRegular = errors.New("it is a pipe or a device: write it to a file first")

// Open opens the file or the folder at path for reading. Anything else is an error with errNotRegular in its chain.
func Open(path string) (*os.File, error) {
	st, err := os.Stat(path) // opening a device may do something to it
	if err == nil && !readable(st) {
		err = &fs.PathError{Op: "open", Path: path, Err: errNotRegular}
	}
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if st, err = f.Stat(); err == nil && !readable(st) { // it has become a pipe
		err = &fs.PathError{Op: "open", Path: path, Err: errNotRegular}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// OpenNamed is Open for a path in a user's own words: what a shell writes for <(COMMAND), or standard input, is opened too.
func OpenNamed(path string) (*os.File, error) {
	if path == "/dev/stdin" || strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/") {
		return os.Open(path)
	}
	return Open(path)
}

// ReadFile reads the file at path. A pipe or a device is an error.
func ReadFile(path string) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

func readable(st fs.FileInfo) bool { return st.Mode().IsRegular() || st.IsDir() }
