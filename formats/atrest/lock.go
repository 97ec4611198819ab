package atrest

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
)

// The stage's lock is a flock on a file in it, so it ends with its process. Whoever holds
// it may remove the folder, the lock last: until then nobody else gets in.

// lockTries is how often another process may remove the folder just while it is locked.
const lockTries = 100

// errGone says that another process removed the folder meanwhile.
var errGone = errors.New("it was removed")

// lock takes the lock; with create it makes the folder too. ErrNoPartial if there is no
// folder, ErrLocked if another process has it, ErrForeign if it is not dsconv's.
func (s *Stage) lock(create bool) error {
	var err error
	for range lockTries {
		err = s.tryLock(create)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, errGone), errors.Is(err, os.ErrNotExist) && create:
			// It went between two steps.
		case isNotExist(err) && !create:
			return fmt.Errorf("%s: %w", s.dir, formats.ErrNoPartial)
		default:
			return err
		}
	}
	if !errors.Is(err, errGone) {
		// Nobody removes anything: some folders, such as /proc, take none.
		return fmt.Errorf("%s: nothing can be made in the folder %s: %w", strings.TrimSuffix(s.dir, PartialSuffix), filepath.Dir(s.dir), err)
	}
	return fmt.Errorf("lock %s: it is removed again and again", s.dir)
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
		return fmt.Errorf("lock %s: %w", s.dir, err)
	}
	// A lock on a file or in a folder that was removed after it was opened keeps nobody out.
	if !s.lockIsCurrent() {
		return errGone
	}
	return s.checkOwned()
}

// openLock opens the lock, and makes it in a folder that is dsconv's. Nothing is followed or
// cut.
func (s *Stage) openLock() (*os.File, error) {
	f, err := os.OpenFile(s.file(lockName), os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		if err := s.checkOwned(); err != nil {
			if exists(s.file(lockName)) {
				return nil, errGone // another process is at work in it: look again
			}
			return nil, err
		}
		f, err = os.OpenFile(s.file(lockName), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o644)
	}
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.ENXIO) {
		return nil, foreignError(s.file(lockName), "it is not a file that dsconv made")
	}
	return f, err
}

// isThere reports whether the open lock and folder are those that their paths name now.
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

// remove takes the folder away and gives the lock back. Until all else is gone, the journal
// stays under another name, so that a kill at any moment leaves what can be gone on with, or
// what is still known to be dsconv's. What is not dsconv's stays, and the folder with it, which
// then keeps the journal's beginning: the next run may use it.
func (s *Stage) remove() error {
	if err := s.closeJournal(); err != nil {
		return err
	}
	if exists(s.file(journalName)) {
		if err := os.Rename(s.file(journalName), s.file(removedJournalName)); err != nil {
			return err
		}
		if err := durable.SyncDir(s.dir); err != nil {
			return err
		}
	}
	if err := s.clear(publishListName, undoName, removedJournalName, lockName); err != nil {
		return err
	}
	shared, err := s.hasForeign()
	if err != nil {
		return err
	}
	if shared {
		if err := truncateJournal(s.file(removedJournalName)); err != nil {
			return err
		}
		return errors.Join(removeFiles(s.root, publishListName, undoName, lockName), s.Close())
	}
	if err := removeFiles(s.root, publishListName, undoName, removedJournalName, lockName); err != nil {
		return err
	}
	// Another process may have made a lock of its own by now; then the folder is its.
	if err := unix.Rmdir(s.dir); err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ENOTEMPTY) {
		return &os.PathError{Op: "remove", Path: s.dir, Err: err}
	}
	return s.Close()
}

// hasForeign reports whether something in the folder is not dsconv's.
func (s *Stage) hasForeign() (bool, error) {
	entries, err := fs.ReadDir(s.root.FS(), ".")
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !isStageName(e.Name()) }), err
}

// clear removes what the stage put into the folder, but for the files in keep.
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
