package folder

import (
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// archiveTree is what folder.Tree is.
type archiveTree interface {
	fs.FS
	io.Closer
	fmt.Stringer
	Identify(w io.Writer) error
	Refused() iter.Seq2[string, string]
	ReadInto(name string, buf []byte) ([]byte, error)
}

// treeSource is a folder.Tree as a filesystem.
type treeSource struct {
	virtual
	tree archiveTree
}

// newTree returns the filesystem of a folder.Tree.
func newTree(t archiveTree) filesystem { return treeSource{virtual{t}, t} }

func (t treeSource) String() string { return t.tree.String() }

func (t treeSource) read(name string, size, _ int64, buf []byte) ([]byte, error) {
	data, err := t.tree.ReadInto(at(name), buf)
	if err == nil && int64(len(data)) != size {
		err = errChanged
	}
	return data, err
}

// readText reads a file of the disk, or else of the Tree. "TREE/labels.csv" is in the Tree.
func (t treeSource) readText(name string) ([]byte, error) {
	if isFile(name) {
		return os.ReadFile(name)
	}
	b, err := fs.ReadFile(t.tree, at(t.inside(name)))
	if err != nil {
		err = notFound(name, t, err)
	}
	return b, err
}

// open opens what readText reads.
func (t treeSource) open(name string) (io.ReadCloser, error) {
	if isFile(name) {
		return os.Open(name)
	}
	f, err := t.Open(at(t.inside(name)))
	if err != nil {
		return nil, notFound(name, t, err)
	}
	return f, nil
}

func notFound(name string, in filesystem, err error) error {
	return fmt.Errorf("%s is no file of the disk, nor in %s: %w", name, in, err)
}

// inside returns the name in the Tree of a path that may begin with the Tree's.
func (t treeSource) inside(name string) string {
	for _, root := range []string{t.String(), disk("").recorded(t.String())} {
		if below, ok := strings.CutPrefix(name, root+"/"); ok {
			return below
		}
	}
	return name
}

func (t treeSource) recorded(p string) string {
	if !isFile(p) && !filepath.IsAbs(p) {
		p = path.Join(t.String(), t.inside(p))
	}
	return disk("").recorded(p)
}

func (t treeSource) relative(p string) (string, error) {
	if below := t.inside(p); below != p {
		return below, nil
	}
	return "", fmt.Errorf("%q is an absolute path: write paths relative to %s", p, t)
}

func (t treeSource) identify(w io.Writer) (all bool, err error) { return true, t.tree.Identify(w) }

func (t treeSource) refused() []skip {
	var skips []skip
	for name, why := range t.tree.Refused() {
		if hasImageName(name) || !fs.ValidPath(name) { // a folder's ends in a slash
			skips = append(skips, skip{name, why})
		}
	}
	return skips
}

func (t treeSource) close() error { return t.tree.Close() }

func isFile(name string) bool {
	st, err := os.Stat(name)
	return err == nil && st.Mode().IsRegular()
}
