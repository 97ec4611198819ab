package extsort

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Temporary returns a file in the folder dir, "" means os.TempDir(), that has no name any more: nothing is
// left of it when it is closed or the process is killed.
func Temporary(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, ".dsconv-*")
	if err != nil {
		return nil, Explain(dir, err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(Explain(dir, err), f.Close())
	}
	return f, nil
}

// Explain adds to an error about a file from Temporary which folder it is in, and what to do.
func Explain(dir string, err error) error {
	advice := ""
	if dir == "" {
		dir, advice = os.TempDir(), "; the variable TMPDIR chooses another folder"
	}
	var path *os.PathError
	if errors.As(err, &path) {
		err = path.Err // the file's name helps nobody
	}
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		advice = "; free space there" + advice
	}
	return fmt.Errorf("temporary file in %s: %w%s", dir, err, advice)
}
