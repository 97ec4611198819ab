package formats

import (
	"errors"
	"fmt"
)

// Errors that callers tell apart; they are wrapped with what was done to which file and key.
var (
	// ErrExists is returned when a finished dataset is already there.
	ErrExists = errors.New("already there and finished")
	// ErrPartial is returned by Create when an unfinished dataset is there.
	ErrPartial = errors.New("an unfinished pack is there")
	// ErrNoPartial is returned by Resume when no unfinished dataset is there.
	ErrNoPartial = errors.New("no unfinished pack is there")
	// ErrPublished is returned by Resume when the pack was complete but for the last step of
	// making it visible; that is done now, and there is nothing to resume.
	ErrPublished = errors.New("it was complete and is published now")
	// ErrLocked is returned when another process is writing the dataset.
	ErrLocked = errors.New("another process is writing it")
	// ErrDamaged is returned when stored bytes are not what they were.
	ErrDamaged = errors.New("damaged")
	// ErrForeign is returned when something is in the way that dsconv cannot show to have
	// written: it is neither changed nor removed.
	ErrForeign = errors.New("it is not dsconv's")
	// ErrNotDataset is returned when there is nothing, or nothing that dsconv wrote.
	ErrNotDataset = errors.New("not a dataset")
	// ErrNewer is returned for a dataset that a later version of dsconv wrote.
	ErrNewer = errors.New("written by a newer dsconv")
	// ErrKey is returned for a key that CheckKey refuses.
	ErrKey = errors.New("bad key")
	// ErrSchema is returned for a schema or value that does not fit.
	ErrSchema = errors.New("bad schema")
	// ErrOrder is returned by Writer.Write for a key that is not larger than the last one
	// where the format is Ordered.
	ErrOrder = errors.New("key out of order")
	// ErrNotBuilt is returned by writers that were left out of the build (CGO_ENABLED=0).
	ErrNotBuilt = errors.New("not built in")
	// ErrRemote is returned for paths such as s3://bucket/x.
	ErrRemote = errors.New("object stores are not supported: give a path of a mounted file system")
	// ErrUnknownFormat is returned when no format fits a name or path.
	ErrUnknownFormat = errors.New("unknown format")
)

// Damaged is err as one of the kind ErrDamaged; it says so once.
func WrapDamaged(err error) error {
	if errors.Is(err, ErrDamaged) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}
