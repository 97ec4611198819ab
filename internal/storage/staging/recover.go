package staging

import (
	"errors"

	"github.com/dsconv/dsconv/formats"
)

// Recover completes what a kill left of a new version of the dataset at path. A version that
// only had to be published is published, and done is true. An empty staging folder is removed,
// one that can be resumed stays. ErrLocked if another process is writing it.
func Recover(path string) (done bool, err error) {
	s, err := resumeStage(path, formats.CreateOptions{})
	switch {
	case err == nil:
		return false, s.Close()
	case errors.Is(err, formats.ErrPublished):
		return true, nil
	case errors.Is(err, formats.ErrNoPartial), errors.Is(err, formats.ErrDamaged):
		return false, nil // resuming it reports the damage
	}
	return false, err
}
