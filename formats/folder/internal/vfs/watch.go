package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sync"
	"syscall"

	"github.com/dsconv/dsconv/formats"
)

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
