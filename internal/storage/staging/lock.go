package staging

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
)

// The lock of a staging folder is a flock on a file in it, so it ends with its process. The
// holder may remove the folder, the lock last: until then no other process can lock it.

// lockTries bounds how often another process may remove the folder while it is being locked.
const lockTries = 100

// errGone means that another process removed the folder meanwhile.
var errGone = errors.New("it was removed")

// lock takes the lock; with create it makes the folder too. ErrNoPartial if there is no
// folder, ErrLocked if another process holds the lock, ErrForeign if the folder is not dsconv's.
func (s *Stage) lock(create bool) error {
	var err error
	for range lockTries {
		err = s.tryLock(create)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, errGone), errors.Is(err, os.ErrNotExist) && create:
			// Another process removed it between two steps.
		case durable.IsMissing(err) && !create:
			return fmt.Errorf("%s: %w", s.dir, formats.ErrNoPartial)
		default:
			return err
		}
	}
	if !errors.Is(err, errGone) {
		// No other process is involved: some folders, such as /proc, do not allow new ones.
		return fmt.Errorf("%s: cannot create a folder in %s: %w", strings.TrimSuffix(s.dir, sidecar.PartialSuffix), filepath.Dir(s.dir), err)
	}
	return fmt.Errorf("cannot lock %s: another process keeps removing it", s.dir)
}

func (s *Stage) tryLock(create bool) (err error) {
	if s.root, err = s.openFolder(create); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if s.lockFile, err = s.openLock(); err != nil {
		return err
	}
	if err := unix.Flock(int(s.lockFile.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return fmt.Errorf("%s: %w", s.dir, formats.ErrLocked)
		}
		return fmt.Errorf("cannot lock %s: %w", s.dir, err)
	}
	// A lock on a file that was removed, itself or with its folder, does not lock out others.
	if !s.lockIsCurrent() {
		return errGone
	}
	return s.checkOwned()
}

// openLock opens the lock, and creates it in a folder that is dsconv's. It follows no link and
// truncates no file.
func (s *Stage) openLock() (*os.File, error) {
	f, _, err := s.in(lockName).openRegular(os.O_RDWR)
	if errors.Is(err, os.ErrNotExist) {
		if err := s.checkOwned(); err != nil {
			if s.in(lockName).exists() {
				return nil, errGone // another process is using the folder: try again
			}
			return nil, err
		}
		f, err = s.root.OpenFile(lockName, os.O_RDWR|os.O_CREATE, 0o644)
	}
	return f, err
}

// lockIsCurrent reports whether the paths of the open lock and folder still name them.
func (s *Stage) lockIsCurrent() bool {
	lock, err := s.lockFile.Stat()
	if err != nil {
		return false
	}
	named, err := s.root.Lstat(lockName)
	if err != nil || !os.SameFile(lock, named) {
		return false
	}
	folder, err := s.root.Stat(".")
	if err != nil {
		return false
	}
	named, err = os.Lstat(s.dir)
	return err == nil && os.SameFile(folder, named)
}

// remove removes the folder and releases the lock. The journal stays under another name until
// all else is gone, so that a kill at any moment leaves a folder that can be resumed or is still
// recognized as dsconv's. Files that are not dsconv's stay, with the folder and the journal's
// first record, so that the next run can use the folder.
func (s *Stage) remove() error {
	if err := s.closeJournal(); err != nil {
		return err
	}
	if s.in(journalName).exists() {
		if err := s.root.Rename(journalName, removedJournalName); err != nil {
			return err
		}
		if err := durable.SyncDir(s.dir); err != nil {
			return err
		}
	}
	if err := s.clear(publishListName, removedJournalName, lockName); err != nil {
		return err
	}
	shared, err := s.hasForeign()
	if err != nil {
		return err
	}
	if shared {
		if err := truncateJournal(s.in(removedJournalName)); err != nil {
			return err
		}
		return errors.Join(removeFiles(s.root, publishListName, lockName), s.Close())
	}
	if err := removeFiles(s.root, publishListName, removedJournalName, lockName); err != nil {
		return err
	}
	// Another process may have created its own lock by now; then it owns the folder.
	if err := s.parent.Remove(filepath.Base(s.dir)); err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ENOTEMPTY) {
		return &os.PathError{Op: "remove", Path: s.dir, Err: err}
	}
	return s.Close()
}

// hasForeign reports whether the folder has files that are not dsconv's.
func (s *Stage) hasForeign() (bool, error) {
	entries, err := fs.ReadDir(s.root.FS(), ".")
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !isStageName(e.Name()) }), err
}

// clear removes dsconv's files from the folder, except those named in keep.
func (s *Stage) clear(keep ...string) error {
	if err := s.clearReplaced(); err != nil {
		return err
	}
	entries, err := fs.ReadDir(s.root.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if slices.Contains(keep, e.Name()) || !isStageName(e.Name()) {
			continue
		}
		if err := s.root.RemoveAll(e.Name()); err != nil {
			return err
		}
	}
	return nil
}

func removeFiles(root *os.Root, names ...string) error {
	for _, name := range names {
		if err := root.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}
