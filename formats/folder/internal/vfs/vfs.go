// Package vfs is where the files of a folder lie: on the disk, in an archive, or in several of these as one.
package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"sync"
	"syscall"

	"github.com/dsconv/dsconv/formats"
)

// FS is where the files of a Dataset lie. Names are relative to its root, with slashes; "" is the
// root.
type FS interface {
	// Stat follows links, Lstat does not.
	Stat(name string) (fs.FileInfo, error)
	Lstat(name string) (fs.FileInfo, error)
	OpenFolder(name string) (Folder, error)
	// Read reads a file that was listed with that size and time into buf, growing it.
	Read(name string, size, modTime int64, buf []byte) ([]byte, error)
	// Head reads the first bytes of a file into buf, and returns how many there are.
	Head(name string, buf []byte) (int, error)
	// Join returns the name of a file in the root for OpenText, and for messages.
	Join(name string) string
	// OpenText opens a file that the Config names: a table, a description or an order of classes. It may be large.
	OpenText(name string) (io.ReadCloser, error)
	// Relative returns a table's absolute path relative to the root.
	Relative(p string) (string, error)
	// Identify writes what tells the root from others. all reports whether that also tells whether the content of
	// any file changed.
	Identify(w io.Writer) (all bool, err error)
	// Recorded returns a path that the Config names as the recipe has it.
	Recorded(p string) string
	// Refused lists what cannot be listed, because of its name or otherwise.
	Refused() []formats.Skip
	// Close frees the root, if that is the Dataset's.
	Close() error
	// String names the root in messages.
	String() string
}

// Folder is an open folder of a filesystem.
type Folder interface {
	// Next returns more entries, in any order; none at the end.
	Next() ([]fs.DirEntry, error)
	// Stat returns the size and the time in ns of a file in the folder, and whether it is a regular one.
	Stat(name string) (size, modTime int64, regular bool, err error)
	Close()
}

// File is a file that was found.
type File struct {
	Path    string // relative, '/'-separated
	Size    int64
	ModTime int64  // ns
	Virtual string // the path that the key and the class are made of, if it is another one
}

// Place is the path that the sample's key and classes are made of.
func (f *File) Place() string {
	if f.Virtual != "" {
		return f.Virtual
	}
	return f.Path
}

// Read reads the file into buf, growing it. The error names it.
func (f *File) Read(in FS, buf []byte) ([]byte, error) {
	data, err := in.Read(f.Path, f.Size, f.ModTime, buf)
	if err != nil {
		err = fmt.Errorf("read %s: %w", f.Path, err)
	}
	return data, err
}

// Identify writes the content of a file that has no time: its size alone does not tell that it is the same.
func (f *File) Identify(in FS, w io.Writer) error {
	if f.ModTime != 0 {
		return nil
	}
	data, err := f.Read(in, nil)
	if err == nil {
		_, err = w.Write(data)
	}
	return err
}

// Cause returns err without the path, which the message already has.
func Cause(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// Where returns a folder or file of in as an argument of a command names it, as far as that is known.
func Where(in FS, name string) string {
	switch in := in.(type) {
	case *Watched:
		return Where(in.FS, name)
	case disk:
		return in.Join(name)
	case tree:
		return path.Join(in.String(), name)
	case *union:
		if m, below := in.having(name); m != nil {
			return Where(m.In, below)
		}
	}
	return name
}

// Watched is a filesystem that keeps the first error by which something could not be looked at: a listing that goes on
// without it is shorter than the source, and nobody knows. It also tells later whether the source is still there.
type Watched struct {
	FS
	leftOut func(name string) bool // what nobody wants may be unreadable; nil if all is wanted
	failed  func(error)            // called once, with the error; nil if nobody waits for it

	mu  sync.Mutex
	err error
	// anchors has a folder for each device that the source lies on: after an unmount there is another one in its place.
	anchors map[uint64]anchor
}

type anchor struct {
	name string
	id   Place
}

// Place is where a folder lies, whatever its path.
type Place struct{ device, inode uint64 }

// Watch watches in.
func Watch(in FS, leftOut func(name string) bool, failed func(error)) *Watched {
	w := &Watched{FS: in, leftOut: leftOut, failed: failed, anchors: map[uint64]anchor{}}
	_, _ = w.Stat("") // the root is an anchor; note has the error
	return w
}

// Err returns the first error by which something could not be read.
func (w *Watched) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// note keeps err, about name, if it is the first one that says so.
func (w *Watched) note(name string, err error) {
	if err == nil || !formats.Unreadable(err) || w.leftOut != nil && w.leftOut(name) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return
	}
	if pe := new(fs.PathError); errors.As(err, &pe) {
		err = pe.Err // the message has the path
	}
	w.err = fmt.Errorf("%s cannot be read: %w: it may have images; mend that, or leave it out with --exclude", Where(w.FS, name), err)
	if w.failed != nil {
		w.failed(w.err)
	}
}

// Stat is that of the filesystem; so are the others.
func (w *Watched) Stat(name string) (fs.FileInfo, error) {
	st, err := w.FS.Stat(name)
	if err == nil {
		w.anchor(name, st)
	}
	w.note(name, err)
	return st, err
}

// Lstat watches too.
func (w *Watched) Lstat(name string) (fs.FileInfo, error) {
	st, err := w.FS.Lstat(name)
	w.note(name, err)
	return st, err
}

// OpenFolder watches too, and so does what it returns.
func (w *Watched) OpenFolder(name string) (Folder, error) {
	f, err := w.FS.OpenFolder(name)
	w.note(name, err)
	return watchedFolder{f, w, name}, err
}

type watchedFolder struct {
	Folder
	*Watched
	name string
}

func (f watchedFolder) Next() ([]fs.DirEntry, error) {
	entries, err := f.Folder.Next()
	f.note(f.name, err)
	return entries, err
}

func (f watchedFolder) Stat(name string) (size, modTime int64, regular bool, err error) {
	if size, modTime, regular, err = f.Folder.Stat(name); err != nil {
		f.note(path.Join(f.name, name), err)
	}
	return size, modTime, regular, err
}

func (f watchedFolder) Close() { f.Folder.Close() }

// anchor remembers a folder of the device that the file or folder at name lies on.
func (w *Watched) anchor(name string, st fs.FileInfo) {
	id := PlaceOf(st)
	w.mu.Lock()
	_, known := w.anchors[id.device]
	w.mu.Unlock()
	if known || id == (Place{}) {
		return
	}
	a := anchor{name, id}
	if !st.IsDir() {
		a.name = path.Dir("/" + name)[1:]
		up, err := w.FS.Stat(a.name)
		if err != nil {
			return
		}
		a.id = PlaceOf(up)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.anchors[id.device] = a
}

// PlaceOf is zero for a file system that is not the disk's.
func PlaceOf(st fs.FileInfo) Place {
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		return Place{uint64(sys.Dev), sys.Ino} //nolint:unconvert // Dev is an int32 on some systems
	}
	return Place{}
}

// Gone returns why the file at name, which was listed and is missing now, may be missing because its source is; nil if only
// the file is.
func (w *Watched) Gone(name string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range w.anchors {
		st, err := w.FS.Stat(a.name)
		if err != nil {
			return fmt.Errorf("the folder %s cannot be read any more: %w", Where(w.FS, a.name), err)
		}
		if PlaceOf(st) != a.id {
			return fmt.Errorf("%s is another folder than the one that was listed: was it moved, or unmounted?", Where(w.FS, a.name))
		}
	}
	if up := path.Dir("/" + name)[1:]; up != "" {
		if _, err := w.FS.Stat(up); err != nil {
			return fmt.Errorf("the folder %s cannot be read any more: %w", Where(w.FS, up), err)
		}
	}
	if st, err := w.FS.Lstat(name); err == nil && st.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s is a link, and what it leads to is missing now: is it mounted?", Where(w.FS, name))
	}
	return nil
}
