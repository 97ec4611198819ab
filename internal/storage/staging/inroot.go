package staging

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/internal/durable"
)

// entry is a file or folder in an open folder. It is reached through that folder and not by a path, so that nobody can
// put a link or another folder in its way.
type entry struct {
	root *os.Root
	name string
}

// named returns an error of s.root with whole paths.
func (s *Stage) named(err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		p.Path = filepath.Join(s.dir, p.Path)
	case errors.As(err, &l):
		l.Old, l.New = filepath.Join(s.dir, l.Old), filepath.Join(s.dir, l.New)
	}
	return err
}

// in returns an entry of the staging folder.
func (s *Stage) in(name string) entry { return entry{s.root, name} }

func (e entry) String() string { return filepath.Join(e.root.Name(), filepath.FromSlash(e.name)) }

func (e entry) exists() bool {
	_, err := e.root.Lstat(e.name)
	return err == nil
}

// list returns the folder's entries.
func (e entry) list() ([]fs.DirEntry, error) { return fs.ReadDir(e.root.FS(), e.name) }

// openRegular opens a regular file; ErrForeign for a link, pipe or folder.
func (e entry) openRegular(flag int) (*os.File, os.FileInfo, error) {
	named, err := e.root.Lstat(e.name)
	if err != nil {
		return nil, nil, err
	}
	if !named.Mode().IsRegular() {
		return nil, nil, foreignError(e.String(), "it is "+durable.KindOf(named.Mode()))
	}
	f, err := e.root.OpenFile(e.name, flag|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	st, err := f.Stat()
	if err == nil && !os.SameFile(st, named) {
		err = foreignError(e.String(), "it was exchanged while it was opened")
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, st, nil
}

// readUpTo reads at most the first n bytes of a file.
func (e entry) readUpTo(n int64) ([]byte, error) {
	f, _, err := e.openRegular(os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, n))
}

// replace replaces the file by one that has b: it is the old or the new one, whatever stops the program.
func (e entry) replace(b []byte) error {
	fresh := path.Join(path.Dir(e.name), durable.TemporaryName(path.Base(e.name)))
	f, err := e.root.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = e.root.Rename(fresh, e.name)
	}
	if err != nil {
		return errors.Join(err, e.root.Remove(fresh))
	}
	return durable.SyncDir(filepath.Dir(e.String()))
}

// renameNoReplace renames from to to, which are paths below the folder of the dataset; an error if to exists.
func (s *Stage) renameNoReplace(from, to string) error { return renameNoReplace(s.parent, from, to) }

func renameNoReplace(root *os.Root, from, to string) error {
	a, errFrom := filepath.Rel(root.Name(), from)
	b, errTo := filepath.Rel(root.Name(), to)
	if err := errors.Join(errFrom, errTo); err != nil {
		return err
	}
	err := renameExclusive(root, a, b)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		// The file system cannot do this in one step.
		if !(entry{root, b}).exists() {
			return root.Rename(a, b)
		}
		err = os.ErrExist
	}
	if errors.Is(err, os.ErrExist) {
		return inTheWayError(to)
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

// renameExclusive renames an entry of root; an error if the new name exists.
func renameExclusive(root *os.Root, from, to string) error {
	a, err := root.Open(filepath.Dir(from))
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := root.Open(filepath.Dir(to))
	if err != nil {
		return err
	}
	defer b.Close()
	return renameatExclusive(int(a.Fd()), filepath.Base(from), int(b.Fd()), filepath.Base(to))
}
