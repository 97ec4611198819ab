package durable

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// What a link at the path leads to stays what it is, and so does a file with the name that
// earlier versions gave to the unfinished file.
func TestWriteTouchesNothingElse(t *testing.T) {
	dir := t.TempDir()
	victim, path, link := filepath.Join(dir, "victim"), filepath.Join(dir, "report.csv"), filepath.Join(dir, "link")
	must(t, os.WriteFile(victim, []byte("precious"), 0o644))
	must(t, os.Symlink(victim, path+".tmp"))
	must(t, os.Symlink(victim, link))
	must(t, WriteFile(path, []byte("new")))
	if err := WriteFile(link, []byte("new")); err == nil {
		t.Error("a link was replaced")
	}
	for name, want := range map[string]string{victim: "precious", path: "new"} {
		if b, err := os.ReadFile(name); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	for _, name := range []string{link, path + ".tmp"} {
		if to, err := os.Readlink(name); err != nil || to != victim {
			t.Errorf("%s leads to %q, %v", name, to, err)
		}
	}
	must(t, WriteFile(os.DevNull, []byte("new")))
}

func TestFailedWriteLeavesWhatWas(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	must(t, os.WriteFile(path, []byte("old"), 0o644))
	failed := errors.New("failed")
	err := Write(path, func(w io.Writer) error {
		if n := names(t, dir); len(n) != 2 || !IsTemporary(n[0]) {
			t.Errorf("while it is written: %q", n)
		}
		_, _ = w.Write([]byte("half"))
		return failed
	})
	if b, _ := os.ReadFile(path); !errors.Is(err, failed) || string(b) != "old" || len(names(t, dir)) != 1 {
		t.Errorf("%v; %q; %q", err, b, names(t, dir))
	}
}
