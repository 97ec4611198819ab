package plan

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What a killed plan left is removed, and nothing else: not what a running one uses, not what another made.
func TestLeftScratchIsRemoved(t *testing.T) {
	parent := t.TempDir()
	running, err := newScratch(parent)
	if err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(parent, scratchPrefix+"left")
	old, young := filepath.Join(parent, scratchPrefix+"old"), filepath.Join(parent, scratchPrefix+"young")
	foreign, open := filepath.Join(parent, "dsconv-other"), filepath.Join(parent, scratchPrefix+"open")
	for _, dir := range []string{left, old, young, foreign, open} {
		if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "sample.tar"), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	long := time.Now().Add(-2 * unlockedFor)
	for _, err := range []error{
		os.WriteFile(filepath.Join(left, scratchLock), nil, 0o600), // its process is dead: nobody holds the lock
		os.WriteFile(filepath.Join(open, scratchLock), nil, 0o600),
		os.Chmod(open, 0o777), // anybody may have written there
		os.Chtimes(old, long, long), os.Chtimes(foreign, long, long),
		os.Symlink(foreign, filepath.Join(parent, scratchPrefix+"link")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	next, err := newScratch(parent)
	if err != nil {
		t.Fatal(err)
	}
	for dir, stays := range map[string]bool{running.dir: true, next.dir: true, left: false, old: false, young: true, foreign: true, open: true} {
		if _, err := os.Stat(dir); (err == nil) != stays {
			t.Errorf("%s: %v", filepath.Base(dir), err)
		}
	}
	for _, s := range []*scratch{running, next} {
		if err := s.remove(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(s.dir); !errors.Is(err, os.ErrNotExist) {
			t.Error(s.dir, err)
		}
	}
	if _, err := newScratch(filepath.Join(parent, "none")); err == nil {
		t.Error("a folder in none")
	}
}
