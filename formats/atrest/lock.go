package atrest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/formats"
)

// The stage's lock is a flock on a file in it, so it ends with its process. Whoever holds
// it may remove the folder, the lock last: until then nobody else gets in.

// lockTries is how often another process may remove the folder just while it is locked.
const lockTries = 100

// lock takes the lock; with create it makes the folder too. ErrNoPartial if there is no
// folder, ErrLocked if another process has it.
func (s *Stage) lock(create bool) error {
	path := filepath.Join(s.dir, lockName)
	for range lockTries {
		f, err := s.openLock(path, create)
		if errors.Is(err, os.ErrNotExist) && create {
			continue // it went between the two steps
		}
		if errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("%s: %w", s.dir, formats.ErrNoPartial)
		}
		if err != nil {
			return err
		}
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			_ = f.Close()
			if errors.Is(err, syscall.EWOULDBLOCK) {
				return fmt.Errorf("%s: %w", s.dir, formats.ErrLocked)
			}
			return fmt.Errorf("lock %s: %w", s.dir, err)
		}
		if isAt(f, path) {
			s.held = f
			return nil
		}
		// The file was removed after it was opened: a lock on it keeps nobody out.
		_ = f.Close()
	}
	return fmt.Errorf("lock %s: it is removed again and again", s.dir)
}

func (s *Stage) openLock(path string, create bool) (*os.File, error) {
	if create {
		if err := os.MkdirAll(s.dir, 0o755); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
}

// isAt says whether f is the file that path names now.
func isAt(f *os.File, path string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Stat(path)
	return err == nil && os.SameFile(a, b)
}

// remove takes the folder away and gives the lock back. A kill at any moment leaves either
// what can be gone on with, or what counts as nothing: the journal goes first, and the list
// of what to publish stays until all else is gone.
func (s *Stage) remove() error {
	if err := s.closeJournal(); err != nil {
		return err
	}
	err := os.Remove(filepath.Join(s.dir, journalName))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := SyncDir(s.dir); err != nil {
		return err
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == lockName || e.Name() == publishName {
			continue
		}
		if err := os.RemoveAll(filepath.Join(s.dir, e.Name())); err != nil {
			return err
		}
	}
	for _, name := range []string{publishName, lockName} {
		if err := os.RemoveAll(filepath.Join(s.dir, name)); err != nil {
			return err
		}
	}
	// Another process may have made a lock of its own by now; then the folder is its.
	if err := os.Remove(s.dir); err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ENOTEMPTY) {
		return err
	}
	return s.Close()
}
