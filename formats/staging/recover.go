package staging

import (
	"errors"

	"github.com/dsconv/dsconv/formats"
)

// Recover tidies up what a kill left of a new version of the dataset at path: one that was
// complete but for its publication is published, and remains of nothing go; done says that
// it was published. What can be gone on with stays. ErrLocked if another process is at it.
func Recover(path string) (done bool, err error) {
	s, err := ResumeStage(path)
	switch {
	case err == nil:
		return false, s.Close()
	case errors.Is(err, formats.ErrPublished):
		return true, nil
	case errors.Is(err, formats.ErrNoPartial), errors.Is(err, formats.ErrDamaged):
		return false, nil // whoever goes on with it says so
	}
	return false, err
}
