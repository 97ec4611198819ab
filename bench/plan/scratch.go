package plan

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	scratchPrefix = "dsconv-plan-"
	scratchLock   = "lock"
	// unlockedFor is the age from which a folder without a lock is a left one: its process was killed before it made the lock.
	unlockedFor = time.Hour
)

// scratch is the temporary folder of a plan. The lock in it ends with the process, so that a later plan can remove what
// a killed one has left.
type scratch struct {
	dir  string
	lock *os.File
}

// newScratch makes a temporary folder in parent, "" for the system's, and removes those that killed plans have left there.
func newScratch(parent string) (*scratch, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	removeLeft(parent)
	dir, err := os.MkdirTemp(parent, scratchPrefix)
	if err != nil {
		return nil, fmt.Errorf("create a temporary folder for samples: %w", err)
	}
	s := &scratch{dir: dir}
	if s.lock, err = os.OpenFile(filepath.Join(dir, scratchLock), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600); err != nil {
		return nil, errors.Join(err, s.remove())
	}
	if err := lock(s.lock); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", s.lock.Name(), err), s.remove())
	}
	return s, nil
}

// remove removes the folder and all in it, the lock last: until then no other plan takes it for a left one.
func (s *scratch) remove() error {
	err := os.RemoveAll(s.dir)
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close())
	}
	return err
}

// removeLeft removes the folders in parent whose process is dead. A folder that cannot be looked into or removed stays: it
// is no reason not to plan.
func removeLeft(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		if ok, _ := filepath.Match(scratchPrefix+"*", e.Name()); !ok || !e.IsDir() {
			continue
		}
		if in, err := e.Info(); err == nil && isOwn(in) {
			removeIfLeft(filepath.Join(parent, e.Name()), in)
		}
	}
}

// isOwn reports whether the folder is this user's, and nobody else could write into it.
func isOwn(in fs.FileInfo) bool {
	s, ok := in.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid() && in.Mode().Perm()&0o022 == 0
}

func removeIfLeft(dir string, in fs.FileInfo) {
	f, err := os.OpenFile(filepath.Join(dir, scratchLock), os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) && time.Since(in.ModTime()) > unlockedFor {
		_ = os.RemoveAll(dir)
		return
	}
	if err != nil {
		return
	}
	defer f.Close()
	if lock(f) == nil {
		_ = os.RemoveAll(dir)
	}
}

// lock locks the file, unless another process has, without waiting.
func lock(f *os.File) error {
	for {
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
