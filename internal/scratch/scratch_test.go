package scratch

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// left makes a folder that looks as if a process had been killed.
func left(t *testing.T, path, marker string, mode os.FileMode) string {
	t.Helper()
	must(t, errors.Join(os.MkdirAll(filepath.Join(path, "all"), 0o755), os.WriteFile(filepath.Join(path, "all", "x.tar"), nil, 0o600)))
	if marker != "" {
		must(t, os.WriteFile(filepath.Join(path, markerName), []byte(marker), 0o600))
	}
	long := time.Now().Add(-1000 * time.Hour)
	must(t, errors.Join(os.Chmod(path, mode), os.Chtimes(path, long, long)))
	return path
}

// What a killed process left is removed, and nothing else: not what a running one uses, and nothing of which the name and
// the age alone say that it was dsconv's.
func TestOnlyMarkedFoldersAreRemoved(t *testing.T) {
	parent := t.TempDir()
	running, err := New(parent, "plan")
	must(t, err)
	at := func(name string) string { return filepath.Join(parent, name) }
	must(t, os.Mkdir(at("elsewhere"), 0o700))
	must(t, os.Symlink("elsewhere", at("dsconv-plan-link")))
	stays := map[string]bool{
		running.Path: true,
		left(t, at("dsconv-plan-killed"), marker, 0o700):      false,
		left(t, at("dsconv-measure-killed"), marker, 0o755):   false,
		left(t, at("dsconv-plan-results"), "", 0o755):         true, // a user's
		left(t, at("dsconv-plan-old"), " ", 0o700):            true, // a marker that was not written
		left(t, at("dsconv-plan-more"), marker+"more", 0o700): true,
		left(t, at("dsconv-plan-open"), marker, 0o777):        true, // anybody may have written there
		left(t, at("elsewhere"), marker, 0o700):               true, // and a link leads there
		left(t, at("dsconv-marked-by-a-folder"), "", 0o700):   true,
	}
	must(t, os.Mkdir(at("dsconv-marked-by-a-folder/"+markerName), 0o700))
	next, err := New(parent, "plan")
	must(t, err)
	stays[next.Path] = true
	for path, want := range stays {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
	}
	for _, s := range []*Folder{running, next} {
		must(t, s.Remove())
		if _, err := os.Stat(s.Path); !errors.Is(err, os.ErrNotExist) {
			t.Error(s.Path, err)
		}
	}
	if _, err := New(at("none"), "plan"); err == nil {
		t.Error("a folder in none")
	}
}

// A removal that is stopped anywhere leaves a folder with its marker, or an empty one.
func TestTheMarkerGoesLast(t *testing.T) {
	s, err := New(t.TempDir(), "plan")
	must(t, err)
	stuck := filepath.Join(s.Path, "stuck")
	must(t, errors.Join(os.Mkdir(stuck, 0o700), os.WriteFile(filepath.Join(stuck, "x"), nil, 0o600), os.Chmod(stuck, 0o500)))
	if os.Geteuid() == 0 {
		t.Skip("root removes everything")
	}
	if s.Remove() == nil {
		t.Fatal("it was removed")
	}
	if _, err := os.Stat(filepath.Join(s.Path, markerName)); err != nil {
		t.Error(err)
	}
	must(t, os.Chmod(stuck, 0o700))
}
