package folder

import (
	"errors"
	"io"
	"io/fs"
)

// filesystem is where the files of a Dataset lie. Names are relative to its root, with slashes; "" is the
// root.
type filesystem interface {
	// stat follows links, lstat does not.
	stat(name string) (fs.FileInfo, error)
	lstat(name string) (fs.FileInfo, error)
	openFolder(name string) (folder, error)
	// read reads a file that was listed with that size and time into buf, growing it.
	read(name string, size, modTime int64, buf []byte) ([]byte, error)
	// join returns the name of a file in the root for readText, and for messages.
	join(name string) string
	// readText reads a file that the Config names: a table, a description or an order of classes.
	readText(name string) ([]byte, error)
	// open opens such a file, which may be large.
	open(name string) (io.ReadCloser, error)
	// relative returns a table's absolute path relative to the root.
	relative(p string) (string, error)
	// follows reports whether a link to the folder with this info can be followed without a loop.
	follows(dir fs.FileInfo) bool
	// identify writes what tells the root from others. all reports whether that also tells whether the content of
	// any file changed.
	identify(w io.Writer) (all bool, err error)
	// recorded returns a path that the Config names as the recipe has it.
	recorded(p string) string
	// refused lists what cannot be listed, because of its name or otherwise.
	refused() []skip
	// close frees the root, if that is the Dataset's.
	close() error
	// String names the root in messages.
	String() string
}

// folder is an open folder of a filesystem.
type folder interface {
	// next returns more entries, in any order; none at the end.
	next() ([]fs.DirEntry, error)
	// stat returns the size and the time in ns of a file in the folder, and whether it is a regular one.
	stat(name string) (size, modTime int64, regular bool, err error)
	close()
}

// file is a file that was found.
type file struct {
	path    string // relative, '/'-separated
	size    int64
	modTime int64  // ns
	virtual string // the path that the key and the class are made of, if it is another one
}

// place is the path that the sample's key and classes are made of.
func (f *file) place() string {
	if f.virtual != "" {
		return f.virtual
	}
	return f.path
}

// skip is an input that cannot be read, and the reason.
type skip struct{ path, cause string }

// cause returns err without the path, which the message already has.
func cause(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
