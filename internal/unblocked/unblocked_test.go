package unblocked

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe and a device are refused at once, through a link too; files and folders are opened.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	pipe, link, file := filepath.Join(dir, "pipe"), filepath.Join(dir, "link"), filepath.Join(dir, "file")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.Symlink(pipe, link), os.WriteFile(file, []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, link, os.DevNull} {
		if f, err := Open(path); !errors.Is(err, errNotRegular) {
			t.Errorf("%s: %v, %v", path, f, err)
		}
	}
	for _, path := range []string{dir, file} {
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := Open(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
