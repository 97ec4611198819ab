package indexfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// Only an index may be replaced; a pipe is not waited for.
func TestReplaceable(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(
		os.WriteFile(at("index"), []byte("DSCINDX1 and more"), 0o644),
		os.WriteFile(at("text"), []byte("DSCINDX2"), 0o644),
		os.WriteFile(at("empty"), nil, 0o644),
		os.Mkdir(at("folder"), 0o755),
		os.Symlink("index", at("link")),
		os.Symlink("nothing", at("dangling")),
		unix.Mkfifo(at("pipe"), 0o644),
	); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		"index": true, "missing": true, "nowhere/index": true,
		"text": false, "empty": false, "folder": false, "link": false, "dangling": false, "pipe": false,
	} {
		if got := Replaceable(at(name)); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
