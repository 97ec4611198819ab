package folder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"golang.org/x/sys/unix"
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
	refused() []Skip
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

// disk is the folder at a path.
type disk string

func (d disk) path(name string) string { return filepath.Join(string(d), filepath.FromSlash(name)) }

func (d disk) stat(name string) (fs.FileInfo, error) { return os.Stat(d.path(name)) }

func (d disk) lstat(name string) (fs.FileInfo, error) { return os.Lstat(d.path(name)) }

func (d disk) openFolder(name string) (folder, error) {
	f, err := os.Open(d.path(name))
	return diskFolder{f}, err
}

// diskFolder asks for its files by their names: the system need not find the folder again for each.
type diskFolder struct{ *os.File }

// maxEntries is how many entries of a folder are in memory at once.
const maxEntries = 1024

func (d diskFolder) next() ([]fs.DirEntry, error) {
	entries, err := d.ReadDir(maxEntries)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return entries, err
}

func (d diskFolder) stat(name string) (size, modTime int64, regular bool, err error) {
	var st unix.Stat_t
	_, err = retry(func() (int, error) { return 0, unix.Fstatat(int(d.Fd()), name, &st, 0) })
	return st.Size, st.Mtim.Nano(), st.Mode&unix.S_IFMT == unix.S_IFREG, err
}

func (d diskFolder) close() { _ = d.Close() } // it was only read

func (d disk) read(name string, size, modTime int64, buf []byte) ([]byte, error) {
	return readFile(d.path(name), size, modTime, buf)
}

func (d disk) join(name string) string { return filepath.Join(string(d), name) }

func (d disk) readText(name string) ([]byte, error) { return os.ReadFile(name) }

func (d disk) open(name string) (io.ReadCloser, error) { return os.Open(name) }

func (d disk) relative(p string) (string, error) {
	root, err := filepath.Abs(string(d))
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(root, p)
	if err != nil {
		return "", err
	}
	return filepath.ToSlash(rel), nil
}

func (d disk) follows(fs.FileInfo) bool { return true }

func (d disk) recorded(p string) string {
	if abs, err := filepath.Abs(p); err == nil {
		return abs
	}
	return p
}

func (d disk) refused() []Skip { return nil }

func (d disk) close() error { return nil }

func (d disk) String() string { return string(d) }

// virtual is an fs.FS.
type virtual struct{ fs.FS }

// at returns the name as an fs.FS takes it.
func at(name string) string { return path.Clean("./" + name) }

func (v virtual) stat(name string) (fs.FileInfo, error) { return fs.Stat(v.FS, at(name)) }

func (v virtual) lstat(name string) (fs.FileInfo, error) { return fs.Lstat(v.FS, at(name)) }

func (v virtual) openFolder(name string) (folder, error) {
	entries, err := fs.ReadDir(v.FS, at(name))
	return &virtualFolder{v, name, entries}, err
}

type virtualFolder struct {
	in      virtual
	name    string
	entries []fs.DirEntry
}

func (v *virtualFolder) next() (all []fs.DirEntry, err error) {
	all, v.entries = v.entries, nil
	return all, nil
}

func (v *virtualFolder) stat(name string) (size, modTime int64, regular bool, err error) {
	st, err := v.in.stat(path.Join(v.name, name))
	if err != nil {
		return 0, 0, false, err
	}
	return st.Size(), modTimeOf(st), st.Mode().IsRegular(), nil
}

func (v *virtualFolder) close() {}

func (v virtual) read(name string, size, modTime int64, buf []byte) ([]byte, error) {
	f, err := v.Open(at(name))
	if err != nil {
		return buf[:0], err
	}
	buf, err = readAll(f, size, buf[:0])
	if err == nil {
		err = unchanged(f, size, modTime, int64(len(buf)))
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	return buf, err
}

func (v virtual) join(name string) string { return name }

func (v virtual) readText(name string) ([]byte, error) { return fs.ReadFile(v.FS, at(name)) }

func (v virtual) open(name string) (io.ReadCloser, error) { return v.Open(at(name)) }

func (v virtual) relative(p string) (string, error) {
	return "", fmt.Errorf("%q is an absolute path: write paths from the root of the file system", p)
}

// follows is false if loops cannot be told: os.SameFile compares only folders of the disk.
func (v virtual) follows(dir fs.FileInfo) bool { return os.SameFile(dir, dir) }

func (v virtual) recorded(p string) string { return p }

func (v virtual) refused() []Skip { return nil }

func (v virtual) close() error { return nil }

func (v virtual) String() string { return fmt.Sprintf("the file system (%T)", v.FS) }
