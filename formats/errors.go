package formats

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"
)

// Errors that callers distinguish. They are wrapped with the operation, the file and the key.
var (
	// ErrExists is returned when a finished dataset already exists.
	ErrExists = errors.New("already exists")
	// ErrPartial is returned by Create when an unfinished dataset exists.
	ErrPartial = errors.New("unfinished dataset")
	// ErrNoPartial is returned by Resume when no unfinished dataset exists. It is an
	// fs.ErrNotExist too.
	ErrNoPartial error = noPartial{}
	// ErrPublished is returned by Resume when only the last step, publishing the dataset, was
	// missing. Resume has done that, and nothing is left to resume.
	ErrPublished = errors.New("it was complete and is now published")
	// ErrLocked is returned when another process is writing the dataset.
	ErrLocked = errors.New("another process is writing it")
	// ErrClosed is returned by everything that is used after its Close: a Dataset, a Writer, a
	// Loader. The data is sound; open it again.
	ErrClosed = errors.New("it is closed")
	// ErrDamaged is returned when stored bytes are not those that were written.
	ErrDamaged = errors.New("damaged")
	// ErrChanged is returned by everything that reads a file of many samples, such as an archive or another program's
	// dataset, after that file was written to. It ends a run: what was read before may not fit to the rest.
	ErrChanged = errors.New("it has changed since it was opened: repeat this when nobody writes to it any more")
	// ErrForeign is returned when dsconv would have to replace something that it cannot prove
	// to have written. That is neither changed nor removed.
	ErrForeign = errors.New("not written by dsconv")
	// ErrNotDataset is returned when the path does not exist or dsconv did not write it.
	ErrNotDataset = errors.New("not a dataset")
	// ErrNewer is returned for a dataset that a later version of dsconv wrote.
	ErrNewer = errors.New("written by a newer dsconv")
	// ErrKey is returned for a key that CheckKey rejects or that the dataset lacks.
	ErrKey = errors.New("bad key")
	// ErrSchema is returned for an invalid schema, or a value that does not match it.
	ErrSchema = errors.New("bad schema")
	// ErrOrder is returned by Writer.Write of an Ordered format for a key that is not larger
	// than the previous one.
	ErrOrder = errors.New("key out of order")
	// ErrNotBuilt is returned by writers that were left out of the build (CGO_ENABLED=0).
	ErrNotBuilt = errors.New("not built in")
	// ErrRemote is returned for paths such as s3://bucket/x.
	ErrRemote = errors.New("object stores are not supported: give a path of a mounted file system")
	// ErrUnknownFormat is returned when no format matches a name or path.
	ErrUnknownFormat = errors.New("unknown format")
)

type noPartial struct{}

func (noPartial) Error() string { return "no unfinished dataset to resume" }

func (noPartial) Is(target error) bool { return target == fs.ErrNotExist }

// WrapDamaged returns err with ErrDamaged in its chain; the text says "damaged" only once.
func WrapDamaged(err error) error {
	if errors.Is(err, ErrDamaged) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

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
