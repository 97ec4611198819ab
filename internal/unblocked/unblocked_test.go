package unblocked

import (
	"errors"
	"fmt"
	"io"
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
		if f, err := OpenNamed(path); !errors.Is(err, errNotRegular) {
			t.Errorf("%s: %v, %v", path, f, err)
		}
		if b, err := ReadFile(path); !errors.Is(err, errNotRegular) {
			t.Errorf("%s: %q, %v", path, b, err)
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
	if b, err := ReadFile(file); string(b) != "x" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := Open(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// What a shell puts in the place of <(COMMAND) is opened where a user named it.
func TestOpenNamed(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := w.WriteString("labels"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("/dev/fd/%d", r.Fd())
	if _, err := os.Stat(name); err != nil {
		t.Skip("no such names here")
	}
	f, err := OpenNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if b, err := io.ReadAll(f); string(b) != "labels" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
}
