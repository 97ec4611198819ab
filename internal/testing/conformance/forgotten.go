package conformance

import (
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/forgotten"
)

// forgotten: a Dataset and a Writer without Close are closed once nobody has them, and are named.
func (s suite) forgotten(t *testing.T) {
	c := photos(3)
	path := s.write(t, c)
	unfinished := s.path(t.TempDir())
	func() {
		ds, err := s.format.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := ds.Read(0, new(formats.Sample)); err != nil {
			t.Error(err)
		}
		w := s.create(t, unfinished, c, formats.CreateOptions{})
		s.add(t, w, c, 0, 1)
		if !isOpen("dataset ", path) || !isOpen("writer of ", unfinished) {
			t.Errorf("not named: %q", forgotten.StillOpen())
		}
		runtime.KeepAlive(ds)
		runtime.KeepAlive(w)
	}()
	for isOpen("dataset ", path) || isOpen("writer of ", unfinished) {
		runtime.GC()
		runtime.Gosched()
	}
	for { // the lock is the runtime's to release
		w, _, _, err := s.format.Resume(unfinished, formats.CreateOptions{})
		if err == nil {
			commit(t, w)
			return
		}
		if !errors.Is(err, formats.ErrLocked) {
			t.Fatal(err)
		}
		runtime.GC()
		runtime.Gosched()
	}
}

func isOpen(what, path string) bool {
	return slices.ContainsFunc(forgotten.StillOpen(), func(text string) bool { return strings.Contains(text, what+filepath.Clean(path)) })
}
