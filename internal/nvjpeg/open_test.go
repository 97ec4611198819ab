//go:build linux && cgo

package nvjpeg

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/dsconv/dsconv/internal/testing/cudatest"
)

// Each library of NVIDIA's that is installed has all functions that we call, and is found in its package.
func TestOpenNVIDIAs(t *testing.T) {
	packages := cudatest.Packages(t)
	files, _ := filepath.Glob(filepath.Join(packages, "nvidia/*/lib/libnvjpeg.so.*"))
	if len(files) == 0 {
		t.Skip("DSCONV_PYTHON lacks the package nvidia-nvjpeg")
	}
	for _, file := range files {
		l, err := Open(Search{Path: file})
		if err != nil {
			t.Fatal(err)
		}
		if l.Path() != file || !strings.HasPrefix(l.Version(), strings.TrimPrefix(filepath.Ext(file), ".")+".") {
			t.Errorf("%s: opened as %s, version %s", file, l.Path(), l.Version())
		}
	}
	l, err := Open(Search{Packages: []string{packages}})
	if err != nil {
		t.Fatal(err)
	}
	if l.Path() != files[len(files)-1] {
		t.Errorf("found %s, want the newest of %q", l.Path(), files)
	}
}

// A file that is not nvJPEG, or that cannot be loaded, is named with the cause.
func TestOpenOthers(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	otherMachine := "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9) + "\x03\x00\x01\x7f\x01" + strings.Repeat("\x00", 100)
	for _, c := range []struct{ path, cause string }{
		{write("text.so", strings.Repeat("no library", 100)), "invalid ELF header"},
		{write("empty.so", ""), "too short"},
		{write("machine.so", otherMachine), ""}, // the words are the loader's
		{filepath.Join(dir, "nothing.so"), "No such file"},
		{dir, "directory"},
		{"libm.so.6", "not nvJPEG"},
	} {
		_, err := Open(Search{Path: c.path})
		if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), c.path) || !strings.Contains(err.Error(), c.cause) {
			t.Errorf("%s: %v, want the cause %q", c.path, err, c.cause)
		}
	}
}

// Without any library the error says what provides one; with unfit ones it says of each why.
func TestOpenFindsNone(t *testing.T) {
	before := sonames
	sonames = nil // the system's loader may find one
	t.Cleanup(func() { sonames = before })
	search := func(root fs.FS, cuda int) error {
		_, err := Open(Search{CUDA: cuda, root: root, getenv: func(string) string { return "" }})
		return err
	}
	if err := search(fstest.MapFS{}, 12); err == nil || !strings.Contains(err.Error(), "pip install nvidia-nvjpeg-cu12") {
		t.Errorf("nothing there: %v", err)
	}
	if err := search(fstest.MapFS{}, 13); err == nil || strings.Contains(err.Error(), "cu12") {
		t.Errorf("nothing there: %v", err)
	}
	err := search(fstest.MapFS{"usr/lib64/libnvjpeg.so.13": {}, "usr/lib/libnvjpeg.so.12": {}}, 12)
	for _, want := range []string{"/usr/lib64/libnvjpeg.so.13 is for CUDA 13", "/usr/lib/libnvjpeg.so.12 cannot be loaded"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
}
