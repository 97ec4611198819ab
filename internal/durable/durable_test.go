package durable

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
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

// The target of a link at the path does not change, and neither does a file with the name that
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

func TestFailedWriteChangesNothing(t *testing.T) {
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

// An open file is written to at its offset, under each of its names.
func TestWriteToAnOpenFile(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "r.json"), filepath.Join(dir, "stdout")
	f, err := os.Create(path)
	must(t, err)
	defer f.Close()
	_, err = f.WriteString("a table\n")
	must(t, err)
	name := fmt.Sprintf("/dev/fd/%d", f.Fd())
	if _, err := os.Stat(name); err != nil {
		t.Skip("no such names here")
	}
	must(t, os.Symlink(name, link)) // as /dev/stdout is
	for _, to := range []string{name, link} {
		must(t, Check(to))
		must(t, WriteFile(to, []byte("{}\n")))
	}
	_, err = f.WriteString("the end\n")
	must(t, err)
	if b, err := os.ReadFile(path); err != nil || string(b) != "a table\n{}\n{}\nthe end\n" || len(names(t, dir)) != 2 {
		t.Errorf("%q, %v, %q", b, err, names(t, dir))
	}
	if err := WriteFile("/dev/fd/999999999", nil); err == nil {
		t.Error("what is not open was written to")
	}
}

// Check returns the error of Write before the work.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o644))
	must(t, os.Symlink("file", filepath.Join(dir, "link")))
	must(t, os.Symlink("loop", filepath.Join(dir, "loop")))
	must(t, os.Mkdir(filepath.Join(dir, "folder"), 0o755))
	for name, fine := range map[string]bool{"file": true, "none": true, "link": false, "loop": false, "folder": false} {
		checked, written := Check(filepath.Join(dir, name)), WriteFile(filepath.Join(dir, name), nil)
		if (checked == nil) != fine || (written == nil) != fine {
			t.Errorf("%s: %v, %v", name, checked, written)
		}
	}
}

func TestLongNamesAreCutBetweenCharacters(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x"+strings.Repeat("\u00fc", 120))
	must(t, Write(path, func(io.Writer) error {
		for _, name := range names(t, dir) {
			if !utf8.ValidString(name) {
				t.Errorf("%q", name)
			}
		}
		return nil
	}))
}
