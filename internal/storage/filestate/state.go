package filestate

import (
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/formats"
)

// State tells apart the contents that a file has had.
type State struct {
	identity   Identity
	changeTime int64
	device     uint64
}

// Identity is what tells a content of a file from others on another day: neither a chmod nor a link changes it, nor another
// mount.
type Identity struct {
	Size, ModTime int64 // bytes, and ns since 1970
	Inode         uint64
}

// Of returns the state of the file at path.
func Of(path string) (State, error) {
	var st unix.Stat_t
	if err := retried(func() error { return unix.Stat(path, &st) }); err != nil {
		return State{}, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return stateOf(&st), nil
}

// OfFile returns the state of an open file.
func OfFile(f *os.File) (State, error) {
	var st unix.Stat_t
	if err := retried(func() error { return unix.Fstat(int(f.Fd()), &st) }); err != nil {
		return State{}, &fs.PathError{Op: "stat", Path: f.Name(), Err: err}
	}
	return stateOf(&st), nil
}

func stateOf(st *unix.Stat_t) State {
	return State{
		identity:   Identity{Size: st.Size, ModTime: st.Mtim.Nano(), Inode: st.Ino},
		changeTime: st.Ctim.Nano(), device: uint64(st.Dev), //nolint:unconvert // it is an int32 on other systems
	}
}

// retried repeats a call that a signal interrupted.
func retried(call func() error) error {
	for {
		if err := call(); err != unix.EINTR { //nolint:errorlint // Errno itself
			return err
		}
	}
}

// Identity returns what identifies the content on another day.
func (s *State) Identity() Identity { return s.identity }

// Size returns the size in bytes.
func (s *State) Size() int64 { return s.identity.Size }

// isOther reports whether now is the state of another file.
func (s *State) isOther(now *State) bool {
	return now.device != s.device || now.identity.Inode != s.identity.Inode
}

// Check returns an error with formats.ErrChanged in its chain if the file at path, which was in state s when it was opened,
// was written to. It also compares the time of the last change of the inode, since cp -p and rsync write to a file and set
// its time back. So a chmod or a new link counts as a change too: rather end a run, which can be continued, than mix contents.
// A file that was replaced by a rename, or removed, has not changed: whoever opened or mapped it still reads its content.
func (s *State) Check(path string) error {
	now, err := Of(path)
	if err != nil || s.isOther(&now) || now == *s {
		return nil //nolint:nilerr // it was removed
	}
	return changed(path)
}

// CheckFile is Check for a file that is open.
func (s *State) CheckFile(f *os.File) error {
	now, err := OfFile(f)
	switch {
	case err != nil:
		return err
	case now == *s:
		return nil
	case now.identity != s.identity:
		return changed(f.Name())
	}
	return s.Check(f.Name()) // a rename and a removal change the inode too
}

func changed(path string) error { return fmt.Errorf("%s: %w", path, formats.ErrChanged) }
