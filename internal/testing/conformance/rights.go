package conformance

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// nobody is a user and a group that no test runs as.
const nobody = 65534

// theirs: an unfinished dataset that others made, or could have changed, is neither replaced nor resumed nor read.
func (s suite) theirs(t *testing.T) {
	c := photos(20)
	for name, change := range map[string]func(dir string) error{
		"theirs":              func(dir string) error { return os.Chown(dir, nobody, nobody) },
		"writable by all":     func(dir string) error { return os.Chmod(dir, 0o777) },
		"writable by a group": func(dir string) error { return os.Chmod(dir, 0o770) },
	} {
		if name == "theirs" && os.Geteuid() != 0 {
			continue // only root can give a folder away
		}
		path := s.path(t.TempDir())
		w := s.create(t, path, c, formats.CreateOptions{})
		s.add(t, w, c, 0, 10)
		checkpoint(t, w, 10)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := change(path + ".partial"); err != nil {
			t.Fatal(err)
		}
		before := rightsIn(t, filepath.Dir(path))
		_, err := s.format.Create(path, c.meta(s.format.Name()), formats.CreateOptions{Replace: true})
		wants(t, name+", created", err, formats.ErrForeign)
		_, _, _, err = s.format.Resume(path, formats.CreateOptions{})
		wants(t, name+", resumed", err, formats.ErrForeign)
		if after := rightsIn(t, filepath.Dir(path)); fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("%s: %v became %v", name, before, after)
		}
	}
}

// rights: a new version has the modes of the one that it replaces and, if root writes it, its owner and group.
func (s suite) rights(t *testing.T) {
	path := s.write(t, photos(20))
	dir := filepath.Dir(path)
	wanted := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		mode := fs.FileMode(0o640)
		if d.IsDir() {
			mode = 0o750
		}
		if os.Geteuid() == 0 {
			err = os.Lchown(path, nobody, nobody-1)
		}
		if err == nil {
			err = os.Chmod(path, mode)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, rights := range rightsIn(t, dir) {
		wanted[rights] = rights
	}
	c := photos(50)
	w := s.create(t, path, c, formats.CreateOptions{Replace: true})
	s.add(t, w, c, 0, 50)
	commit(t, w)
	for name, rights := range rightsIn(t, dir) {
		if wanted[rights] == "" {
			t.Errorf("%s has the rights %s, not those of %v", name, rights, wanted)
		}
	}
}

// rightsIn lists what is in a folder, with kinds, modes and owners.
func rightsIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		st, err := d.Info()
		if err != nil {
			return err
		}
		all[path] = st.Mode().String()
		if sys, ok := st.Sys().(*syscall.Stat_t); ok {
			all[path] += fmt.Sprintf(" %d:%d", sys.Uid, sys.Gid)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
