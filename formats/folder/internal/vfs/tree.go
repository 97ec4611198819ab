package vfs

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// Tree is what folder.Tree is.
type Tree interface {
	fs.FS
	io.Closer
	fmt.Stringer
	Identify(w io.Writer) error
	Refused() []formats.Skip
	ReadInto(name string, buf []byte) ([]byte, error)
}

// tree is a folder.Tree as a filesystem.
type tree struct {
	virtual
	tree Tree
}

// NewTree returns the filesystem of a folder.Tree.
func NewTree(t Tree) FS { return tree{virtual{t}, t} }

func (t tree) String() string { return t.tree.String() }

func (t tree) Read(name string, size, _ int64, buf []byte) ([]byte, error) {
	data, err := t.tree.ReadInto(at(name), buf)
	if err == nil && int64(len(data)) != size {
		err = ErrChanged
	}
	return data, err
}

// OpenText opens a file of the disk, or else of the Tree. "TREE/labels.csv" is in the Tree.
func (t tree) OpenText(name string) (io.ReadCloser, error) {
	if isFile(name) {
		return unblocked.Open(name)
	}
	f, err := t.Open(at(t.inside(name)))
	if err != nil {
		return nil, notFound(name, t, err)
	}
	return f, nil
}

func notFound(name string, in FS, err error) error {
	return fmt.Errorf("%s is no file of the disk, nor in %s: %w", name, in, err)
}

// inside returns the name in the Tree of a path that may begin with the Tree's.
func (t tree) inside(name string) string {
	for _, root := range []string{t.String(), disk("").Recorded(t.String())} {
		if below, ok := strings.CutPrefix(name, root+"/"); ok {
			return below
		}
	}
	return name
}

func (t tree) Recorded(p string) string {
	if !isFile(p) && !filepath.IsAbs(p) {
		p = path.Join(t.String(), t.inside(p))
	}
	return disk("").Recorded(p)
}

func (t tree) Relative(p string) (string, error) {
	if below := t.inside(p); below != p {
		return below, nil
	}
	return "", fmt.Errorf("%q is an absolute path: write paths relative to %s", p, t)
}

func (t tree) Identify(w io.Writer) (all bool, err error) { return true, t.tree.Identify(w) }

func (t tree) Refused() []formats.Skip {
	return slices.DeleteFunc(t.tree.Refused(), func(k formats.Skip) bool {
		return isOther(k.Path) && fs.ValidPath(k.Path) // a folder's ends in a slash
	})
}

// noticer is a Tree with something to say of how it was read.
type noticer interface{ Notices() []string }

// Notices are those of the Trees in it.
func Notices(in FS) (all []string) {
	switch in := in.(type) {
	case tree:
		if n, ok := in.tree.(noticer); ok {
			all = n.Notices()
		}
	case *union:
		for i := range in.mounts {
			all = append(all, Notices(in.mounts[i].In)...)
		}
	}
	return all
}

func (t tree) Close() error { return t.tree.Close() }

func isFile(name string) bool {
	st, err := os.Stat(name)
	return err == nil && st.Mode().IsRegular()
}

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
