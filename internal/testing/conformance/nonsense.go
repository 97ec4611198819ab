package conformance

import (
	"context"
	"io/fs"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// nonsense: senseless arguments are errors, and what was written before stays.
func (s suite) nonsense(t *testing.T) {
	c := photos(4)
	named := func(what string, err error) {
		t.Helper()
		if err == nil || err.Error() == "" {
			t.Errorf("%s: no error", what)
		}
	}
	for _, level := range []int{-1, 23} {
		path := s.path(t.TempDir())
		_, err := s.format.Create(path, c.meta(s.format.Name()), formats.CreateOptions{Zstd: level})
		named("Create with a zstd level", err)
		if left := entries(t, filepath.Dir(path)); len(left) != 0 {
			t.Errorf("Create failed and left %q", left)
		}
	}
	_, err := s.format.Create(s.path(t.TempDir()), formats.Meta{}, formats.CreateOptions{})
	wants(t, "Create with an empty Meta", err, formats.ErrSchema)

	path := s.path(t.TempDir())
	w := s.create(t, path, c, formats.CreateOptions{})
	s.add(t, w, c, 0, 2)
	named("Write of an empty sample", w.Write(new(formats.Sample)))
	s.add(t, w, c, 2, 4)
	commit(t, w)
	ds := s.open(t, path)
	same(t, ds, c)

	for _, i := range []int{-1, 4, math.MinInt, math.MaxInt} {
		named("Read", ds.Read(i, new(formats.Sample)))
		named("Info", second(ds.Info(i)))
	}
	if v, ok := ds.(formats.Viewer); ok {
		named("View", v.View(-1, new(formats.Sample)))
	}
	check, ok := ds.(formats.Checker)
	if !ok {
		t.Fatal("not a Checker")
	}
	none := func(d formats.Damage) { t.Errorf("damage: %+v", d) }
	for _, p := range []formats.Portion{{Index: -1, Count: 2}, {Index: 2, Count: 2}, {Index: 1}, {Count: -1}} {
		named("Check of a portion", check.Check(context.Background(), p, 1, none))
	}
	if err := check.Check(context.Background(), formats.Portion{}, -3, none); err != nil {
		t.Errorf("Check with -3 workers: %v", err)
	}
	if _, err := formats.Find(ds, "no such key"); err == nil {
		t.Error("a missing key was found")
	}
}

// missingPaths: what is missing is fs.ErrNotExist, and Create makes no folder for a mistyped path.
func (s suite) missingPaths(t *testing.T) {
	c := photos(0)
	dir := t.TempDir()
	paths := []string{"", s.path(dir), s.path(filepath.Join(dir, "missing")), s.path(filepath.Join(dir, "two", "missing"))}
	for k, path := range paths {
		_, err := s.format.Open(path)
		wants(t, "Open "+path, err, fs.ErrNotExist)
		if salvager, ok := s.format.(formats.Salvager); ok {
			_, err := salvager.Salvage(path)
			wants(t, "Salvage "+path, err, fs.ErrNotExist)
		}
		_, _, _, err = s.format.Resume(path, formats.CreateOptions{})
		if path != "" || err == nil {
			wants(t, "Resume "+path, err, fs.ErrNotExist)
		}
		if k == 1 {
			continue // it can be created
		}
		_, err = s.format.Create(path, c.meta(s.format.Name()), formats.CreateOptions{})
		if err == nil || path != "" && !strings.Contains(err.Error(), filepath.Dir(path)) {
			t.Errorf("Create %s: %v does not name the folder", path, err)
		}
		if path != "" {
			wants(t, "Create "+path, err, fs.ErrNotExist)
		}
	}
	if left := entries(t, dir); len(left) != 0 {
		t.Errorf("left %q", left)
	}
}
