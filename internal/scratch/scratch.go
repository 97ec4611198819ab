// Package scratch makes temporary folders that a later process can remove when this one was killed. A file in the folder
// shows that it is one, and the lock on that file ends with its process. python/src/dsconv/_scratch.py makes the same ones.
package scratch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/internal/durable"
)

const (
	// prefix begins the names of the folders.
	prefix = "dsconv-"
	// markerName is the file that shows that the folder may be removed, and marker its content.
	markerName = "dsconv-scratch"
	marker     = "dsconv removes this folder and all in it once the process that made it has ended\n"
)

// Folder is a temporary folder.
type Folder struct {
	Path string
	lock *os.File
}

// New makes a temporary folder in parent, "" for the system's. Its name begins with "dsconv-" and purpose. New also removes
// the folders that killed processes have left in parent.
func New(parent, purpose string) (*Folder, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	removeLeft(parent)
	dir, err := os.MkdirTemp(parent, prefix+purpose+"-")
	if err != nil {
		return nil, fmt.Errorf("create a temporary folder: %w", err)
	}
	s := &Folder{Path: dir}
	if err := s.mark(); err != nil {
		return nil, errors.Join(err, s.Remove())
	}
	return s, nil
}

// mark makes the marker. It gets its content when it is locked: until then the folder is nobody's to remove.
func (s *Folder) mark() (err error) {
	if s.lock, err = os.OpenFile(filepath.Join(s.Path, markerName), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600); err != nil {
		return err
	}
	if err := lock(s.lock); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("lock %s: %w", s.lock.Name(), err)
	}
	_, err = s.lock.WriteString(marker)
	return err
}

// Remove removes the folder and all in it, the marker last, so that what a kill leaves is recognized.
func (s *Folder) Remove() error {
	root, err := os.OpenRoot(s.Path)
	if err == nil {
		err = errors.Join(empty(root), root.Close(), os.Remove(s.Path))
	}
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close())
	}
	return err
}

// empty removes everything in the folder, the marker last.
func empty(root *os.Root) error {
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	names, err := dir.Readdirnames(-1)
	if err = errors.Join(err, dir.Close()); err != nil {
		return err
	}
	for _, name := range names {
		if name != markerName {
			err = errors.Join(err, root.RemoveAll(name))
		}
	}
	if err == nil {
		err = root.RemoveAll(markerName)
	}
	return err
}

// removeLeft removes the folders in parent whose process has ended. A folder that cannot be looked into or removed stays: it
// is no reason not to work.
func removeLeft(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) && e.IsDir() {
			removeIfLeft(filepath.Join(parent, e.Name()))
		}
	}
}

// removeIfLeft removes the folder if it has a marker, is this user's alone, and its process has ended.
func removeIfLeft(path string) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return
	}
	defer root.Close()
	f, err := root.OpenFile(markerName, os.O_RDWR|unix.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer f.Close()
	dir, err := root.Open(".")
	if err != nil {
		return
	}
	defer dir.Close()
	b, err := io.ReadAll(io.LimitReader(f, int64(len(marker))+1))
	if err != nil || string(b) != marker || durable.CheckOwn(dir) != nil || lock(f) != nil || empty(root) != nil {
		return
	}
	if now, err := os.Lstat(path); err == nil && now.IsDir() {
		_ = os.Remove(path)
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
