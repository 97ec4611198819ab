package atrest

import (
	"errors"
	"os"
	"path/filepath"
)

// Recover finishes the publication of a new version of the dataset at path that a kill
// interrupted; done says that there was one. ErrLocked if another process is at it.
func Recover(path string) (done bool, err error) {
	s := &Stage{dir: path + Suffix}
	if _, err := os.Stat(filepath.Join(s.dir, "publish")); err != nil {
		return false, nil //nolint:nilerr // nothing is left to do
	}
	if err := s.lock(false); err != nil {
		return false, err
	}
	err = s.publish()
	if errors.Is(err, os.ErrNotExist) { // the one who held the lock was done with it
		err = nil
	}
	return err == nil, errors.Join(err, s.Close())
}
