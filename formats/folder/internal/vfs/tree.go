package vfs

import (
	"bytes"
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

// Tree is folder.Tree.
type Tree interface {
	// Stat and ReadDir take the names of an fs.FS. ReadDir sorts by name.
	Stat(name string) (fs.FileInfo, error)
	ReadDir(name string) ([]fs.DirEntry, error)
	// Close is called once, by the Dataset's Close or if opening it fails.
	io.Closer
	// String is the path of the Tree on the disk, for messages and the recipe.
	fmt.Stringer
	// Identify writes what tells the Tree from others, and from itself with another content.
	Identify(w io.Writer) error
	// Refused lists the paths that the Tree does not open, such as those with "..", and why. One that ends in "/" is
	// that of a folder. The caller owns the list.
	Refused() []formats.Skip
	// ReadInto reads a file into the memory of buf, or into new memory if that is too small. It returns an error if
	// the file is not the one that Stat describes.
	ReadInto(name string, buf []byte) ([]byte, error)
}

// tree is a Tree as a filesystem.
type tree struct{ Tree }

// NewTree returns the filesystem of a Tree.
func NewTree(t Tree) FS { return tree{t} }

// at returns the name as an fs.FS takes it.
func at(name string) string { return path.Clean("./" + name) }

func (t tree) Stat(name string) (fs.FileInfo, error) { return t.Tree.Stat(at(name)) }

// Lstat is Stat: a Tree has no links.
func (t tree) Lstat(name string) (fs.FileInfo, error) { return t.Tree.Stat(at(name)) }

func (t tree) OpenFolder(name string) (Folder, error) {
	entries, err := t.ReadDir(at(name))
	return &treeFolder{t, name, entries}, err
}

type treeFolder struct {
	in      tree
	name    string
	entries []fs.DirEntry
}

func (f *treeFolder) Next() (all []fs.DirEntry, err error) {
	all, f.entries = f.entries, nil
	return all, nil
}

func (f *treeFolder) Stat(name string) (size, modTime int64, regular bool, err error) {
	st, err := f.in.Stat(path.Join(f.name, name))
	if err != nil {
		return 0, 0, false, err
	}
	return st.Size(), ModTime(st), st.Mode().IsRegular(), nil
}

func (f *treeFolder) Close() {}

func (t tree) Read(name string, size, _ int64, buf []byte) ([]byte, error) {
	data, err := t.ReadInto(at(name), buf)
	if err == nil && int64(len(data)) != size {
		err = ErrChanged
	}
	return data, err
}

func (t tree) Head(name string, buf []byte) (int, error) {
	data, err := t.ReadInto(at(name), nil)
	return copy(buf, data), err
}

func (t tree) Join(name string) string { return name }

// OpenText opens a file of the disk, or else of the Tree. "TREE/labels.csv" is in the Tree.
func (t tree) OpenText(name string) (io.ReadCloser, error) {
	if isFile(name) {
		return unblocked.Open(name)
	}
	data, err := t.ReadInto(at(t.inside(name)), nil)
	if err != nil {
		return nil, notFound(name, t, err)
	}
	return io.NopCloser(bytes.NewReader(data)), nil
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

func (t tree) Identify(w io.Writer) (all bool, err error) { return true, t.Tree.Identify(w) }

func (t tree) Refused() []formats.Skip {
	return slices.DeleteFunc(t.Tree.Refused(), func(k formats.Skip) bool {
		return isOther(k.Path) && fs.ValidPath(k.Path) // a folder's ends in a slash
	})
}

// noticer is a Tree with something to say of how it was read.
type noticer interface{ Notices() []string }

// Notices are those of the Trees in it.
func Notices(in FS) (all []string) {
	switch in := in.(type) {
	case tree:
		if n, ok := in.Tree.(noticer); ok {
			all = n.Notices()
		}
	case *union:
		for i := range in.mounts {
			all = append(all, Notices(in.mounts[i].In)...)
		}
	}
	return all
}

func isFile(name string) bool {
	st, err := os.Stat(name)
	return err == nil && st.Mode().IsRegular()
}
