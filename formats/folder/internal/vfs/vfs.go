// Package vfs is where the files of a folder lie: on the disk, in an fs.FS, in an archive, or in several of these as one.
package vfs

import (
	"errors"
	"io"
	"io/fs"
	"path"

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
