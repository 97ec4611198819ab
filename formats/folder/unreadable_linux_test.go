package folder

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/foldertest"
)

// failingFS is a folder of which one file or folder gives an error.
type failingFS struct {
	fs.FS
	op, name string // "stat", "open" or "list"
	err      error
}

func (f failingFS) fail(op, name string) error {
	if f.op == op && f.name == name {
		return &fs.PathError{Op: op, Path: name, Err: f.err}
	}
	return nil
}

func (f failingFS) Open(name string) (fs.File, error) {
	if err := f.fail("open", name); err != nil {
		return nil, err
	}
	return f.FS.Open(name)
}

func (f failingFS) Stat(name string) (fs.FileInfo, error) {
	if err := f.fail("stat", name); err != nil {
		return nil, err
	}
	return fs.Stat(f.FS, name)
}

func (f failingFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := f.fail("list", name); err != nil {
		return nil, err
	}
	return fs.ReadDir(f.FS, name)
}

// A file or folder that cannot be looked at ends the listing, unless nobody wants it: the listing would be shorter than the
// folder, and nobody would know.
func TestListingEndsAtWhatCannotBeRead(t *testing.T) {
	root := foldertest.Tree(t, "a/1.jpg", "a/2.jpg", "b/1.jpg", "b/c/2.jpg", "lost+found/", "masks/1.png")
	foldertest.Must(t, os.WriteFile(filepath.Join(root, "l.csv"), []byte("path,label\na/1.jpg,x\nb/1.jpg,y\n"), 0o644))
	table := Config{Labels: "l.csv"}
	for _, k := range []struct {
		op, name string
		cfg      Config
		open     bool
	}{
		{"list", ".", Config{}, false},
		{"list", "b", Config{}, false},
		{"list", "b/c", Config{}, false},
		{"stat", "b", Config{}, false},
		{"stat", "a/2.jpg", Config{}, false},
		{"stat", "a/2.jpg", table, false},
		{"list", "lost+found", Config{}, true},
		{"stat", "l.csv", Config{}, true},
		{"list", "b", Config{Patterns: formats.Patterns{Exclude: []string{"b/"}}}, true},
		{"stat", "a/2.jpg", Config{Patterns: formats.Patterns{Exclude: []string{"a/2.jpg"}}}, true},
	} {
		for _, err := range []error{syscall.EIO, syscall.EACCES, syscall.ENOTCONN, syscall.ESTALE, syscall.ETIMEDOUT, fs.ErrPermission} {
			d, got := OpenTree(context.Background(), foldertest.AsTree(failingFS{os.DirFS(root), k.op, k.name, err}), k.cfg)
			if (got == nil) != k.open || got != nil && (!errors.Is(got, err) || !strings.Contains(got.Error(), path.Base(k.name)) && k.name != ".") {
				t.Errorf("%s %s: %v: %v", k.op, k.name, err, got)
			}
			if got == nil {
				foldertest.Must(t, d.Close())
			}
		}
	}
}

// A file that is missing is one bad image, unless its source is: then the run must end.
func TestMissingFileOrMissingSource(t *testing.T) {
	for name, k := range map[string]struct {
		lose func(root string) error
		ends bool
	}{
		"a file removed": {func(root string) error { return os.Remove(root + "/a/1.jpg") }, false},
		"a mount below is gone": {func(root string) error {
			return errors.Join(unix.Unmount(root+"/a", unix.MNT_DETACH), os.Remove(root+"/a/1.jpg"))
		}, true},
		"the root moved": {func(root string) error { return os.Rename(root, root+".moved") }, true},
		"the root replaced": {func(root string) error {
			return errors.Join(os.Rename(root, root+".moved"), os.MkdirAll(root+"/a", 0o755))
		}, true},
		"the folder moved":       {func(root string) error { return os.Rename(root+"/a", root+"/z") }, true},
		"the root is a file":     {func(root string) error { return errors.Join(os.RemoveAll(root), os.WriteFile(root, nil, 0o644)) }, true},
		"the link leads nowhere": {func(root string) error { return os.Remove(root + ".target") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			root := foldertest.Tree(t, "a/1.jpg", "b/2.jpg")
			if strings.Contains(name, "link") {
				foldertest.Must(t, errors.Join(os.Rename(root+"/a/1.jpg", root+".target"), os.Symlink(root+".target", root+"/a/1.jpg")))
			}
			if strings.Contains(name, "mount") {
				mountBelow(t, root+"/a")
			}
			d, err := Open(context.Background(), root, Config{})
			foldertest.Must(t, err)
			defer d.Close()
			foldertest.Must(t, k.lose(root))
			var s formats.Sample
			err = d.Read(0, &s)
			if err == nil || errors.Is(err, formats.ErrChanged) != k.ends || formats.Unreadable(err) {
				t.Errorf("%v, ends the run: want %v", err, k.ends)
			}
		})
	}
}

// mountBelow mounts another disk at a folder, with an image.
func mountBelow(t *testing.T, dir string) {
	t.Helper()
	if err := unix.Mount("none", dir, "tmpfs", 0, ""); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	foldertest.Must(t, os.WriteFile(dir+"/1.jpg", []byte("an image"), 0o644))
}

// A link that leads nowhere may have led to a folder of images: it is named.
func TestLinkThatLeadsNowhere(t *testing.T) {
	root := foldertest.Tree(t, "a/1.jpg", "b -> /nowhere/b", ".hidden -> /nowhere")
	d, err := Open(context.Background(), root, Config{})
	foldertest.Must(t, err)
	defer d.Close()
	if s := d.Skips(); len(s) != 1 || s[0].Path != "b" || !strings.Contains(s[0].Cause, "mounted") || len(d.Meta().Classes()) != 1 {
		t.Errorf("%v, classes %v", s, d.Meta().Classes())
	}
}
