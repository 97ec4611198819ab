package filestate_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/filestate"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// opened writes a file whose times are long ago, and returns its state.
func opened(t *testing.T) (string, *os.File, filestate.State) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.tar")
	must(t, os.WriteFile(path, []byte("first"), 0o644))
	long := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(path, long, long))
	f, err := os.Open(path)
	must(t, err)
	t.Cleanup(func() { _ = f.Close() })
	was, err := filestate.OfFile(f)
	must(t, err)
	if same, err := filestate.Of(path); err != nil || same != was {
		t.Fatalf("%v: the states %v and %v", err, same, was)
	}
	afterTick(t)
	return path, f, was
}

// afterTick waits until what changes from now on has another time: the clock of a file system goes on in steps.
func afterTick(t *testing.T) {
	t.Helper()
	probe := filepath.Join(t.TempDir(), "probe")
	now := func() time.Time {
		must(t, os.WriteFile(probe, []byte("x"), 0o644))
		st, err := os.Stat(probe)
		must(t, err)
		return st.ModTime()
	}
	for first := now(); !now().After(first); {
		time.Sleep(time.Millisecond)
	}
}

func TestWhatIsAChange(t *testing.T) {
	for _, c := range []struct {
		name    string
		do      func(path string) error
		changed bool
	}{
		{"nothing", func(string) error { return nil }, false},
		{"read", func(path string) error { _, err := os.ReadFile(path); return err }, false},
		{"written to", func(path string) error { return os.WriteFile(path, []byte("other"), 0o644) }, true},
		{"shortened", func(path string) error { return os.Truncate(path, 1) }, true},
		{"written to and its time set back", func(path string) error {
			st, err := os.Stat(path)
			return errors.Join(err, os.WriteFile(path, []byte("other"), 0o644), os.Chtimes(path, st.ModTime(), st.ModTime()))
		}, true},
		{"removed", os.Remove, false},
		{"renamed", func(path string) error { return os.Rename(path, path+"2") }, false},
		{"replaced", func(path string) error {
			return errors.Join(os.WriteFile(path+"2", []byte("other"), 0o644), os.Rename(path+"2", path))
		}, false},
	} {
		path, f, was := opened(t)
		must(t, c.do(path))
		for what, err := range map[string]error{"Check": was.Check(path), "CheckFile": was.CheckFile(f)} {
			if errors.Is(err, formats.ErrChanged) != c.changed || (err == nil) == c.changed {
				t.Errorf("%s, %s: %v", c.name, what, err)
			}
			if c.changed && !strings.HasPrefix(err.Error(), path+": it has changed") {
				t.Errorf("%s, %s: %v", c.name, what, err)
			}
		}
	}
}

// A chmod is no other content on another day.
func TestIdentity(t *testing.T) {
	path, _, was := opened(t)
	must(t, os.Chmod(path, 0o600))
	now, err := filestate.Of(path)
	must(t, err)
	if now == was || now.Identity() != was.Identity() {
		t.Errorf("%v became %v", was, now)
	}
	must(t, os.WriteFile(path, []byte("other"), 0o644))
	if now, err := filestate.Of(path); err != nil || now.Identity() == was.Identity() {
		t.Errorf("%v: %v became %v", err, was, now)
	}
}
