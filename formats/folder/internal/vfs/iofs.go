package vfs

import (
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/dsconv/dsconv/formats"
)

// Of returns the root of an fs.FS.
func Of(fsys fs.FS) FS { return virtual{fsys} }

// virtual is an fs.FS.
type virtual struct{ fs.FS }

// at returns the name as an fs.FS takes it.
func at(name string) string { return path.Clean("./" + name) }

func (v virtual) Stat(name string) (fs.FileInfo, error) { return fs.Stat(v.FS, at(name)) }

func (v virtual) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(v.FS, at(name)) }

func (v virtual) OpenFolder(name string) (Folder, error) {
	entries, err := fs.ReadDir(v.FS, at(name))
	return &virtualFolder{v, name, entries}, err
}

type virtualFolder struct {
	in      virtual
	name    string
	entries []fs.DirEntry
}

func (v *virtualFolder) Next() (all []fs.DirEntry, err error) {
	all, v.entries = v.entries, nil
	return all, nil
}

func (v *virtualFolder) Stat(name string) (size, modTime int64, regular bool, err error) {
	st, err := v.in.Stat(path.Join(v.name, name))
	if err != nil {
		return 0, 0, false, err
	}
	return st.Size(), ModTime(st), st.Mode().IsRegular(), nil
}

func (v *virtualFolder) Close() {}

func (v virtual) Read(name string, size, modTime int64, buf []byte) ([]byte, error) {
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

func (v virtual) Head(name string, buf []byte) (int, error) {
	f, err := v.Open(at(name))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return readHead(f, buf)
}

func (v virtual) Join(name string) string { return name }

func (v virtual) OpenText(name string) (io.ReadCloser, error) { return v.Open(at(name)) }

func (v virtual) Relative(p string) (string, error) {
	return "", fmt.Errorf("%q is an absolute path: write paths from the root of the file system", p)
}

func (v virtual) Recorded(p string) string { return p }

func (v virtual) Refused() []formats.Skip { return nil }

func (v virtual) Close() error { return nil }

func (v virtual) String() string { return fmt.Sprintf("the file system (%T)", v.FS) }

func (v virtual) Identify(w io.Writer) (all bool, err error) {
	st, err := v.Stat("")
	if err != nil {
		return false, err
	}
	_, err = fmt.Fprintf(w, "%T %v\n", v.FS, inodeOf(st))
	return false, err
}
