//go:build linux && cgo

package guard

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// mappingsOf counts the file's mappings in /proc.
func mappingsOf(t *testing.T, path string) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), path)
}

// TestRemappedInPlace: pages that could not be read for a while are not separate mappings
// afterwards. A process may have some 65,000 mappings, and ends when it needs one more.
func TestRemappedInPlace(t *testing.T) {
	const pages = 2000
	path, b := mapped(t, pages)
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < pages; i += 2 {
		page := b[i*pageSize : (i+1)*pageSize]
		if err := Read(page, func() error { return use(page) }); err == nil {
			t.Fatalf("page %d of an emptied file could be read", i)
		}
	}
	if n := mappingsOf(t, path); n > 3 {
		t.Errorf("the file is mapped in %d parts", n)
	}
	want := bytes.Repeat([]byte{9}, len(b))
	if err := os.WriteFile(path, want, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Read(b, func() error { return use(b) }); err != nil || !bytes.Equal(b, want) {
		t.Errorf("the file is readable again: %v", err)
	}
}

// sampleOf is a sample with the bytes as its value.
func sampleOf(b []byte) *formats.Sample { return &formats.Sample{Values: []formats.Value{{Data: b}}} }

// TestShortenedElsewhere: a shortened file is noticed after the process has changed its folder, and
// a file without a name is not taken to be whole when that is unknown.
func TestShortenedElsewhere(t *testing.T) {
	for name, happens := range map[string]func(path string) error{
		"another folder": func(string) error { return nil },
		"renamed":        func(path string) error { return os.Rename(path, path+".old") },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			if err := os.WriteFile("x", bytes.Repeat([]byte{7}, 4*pageSize), 0o644); err != nil {
				t.Fatal(err)
			}
			f, err := os.Open("x")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			b, err := Map(f, "x", 4*pageSize, false)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := Unmap(b); err != nil {
					t.Error(err)
				}
			}()
			t.Chdir(t.TempDir())
			s := sampleOf(b[pageSize : pageSize+20])
			if err := SampleShortened(s); err != nil {
				t.Errorf("a whole file: %v", err)
			}
			path := filepath.Join(dir, "x")
			if err := os.Truncate(path, int64(pageSize+10)); err != nil {
				t.Fatal(err)
			}
			if err := happens(path); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if err := SampleShortened(s); err == nil {
					t.Error("the file ends before the sample does")
				}
			}
		})
	}
}

// TestLastPageIsTriedOnce: a disk can take seconds to report that it cannot read a page. Reading
// the pages before it must not take that long for each sample.
func TestLastPageIsTriedOnce(t *testing.T) {
	path, b := mapped(t, 4)
	if err := os.Truncate(path, int64(2*pageSize)); err != nil {
		t.Fatal(err)
	}
	before := Now()
	for range 100 {
		if err := SampleShortened(sampleOf(b[:pageSize])); err != nil {
			t.Fatal(err)
		}
	}
	if n := Now() - before; n > 4 {
		t.Errorf("%d events", n)
	}
	if err := SampleShortened(sampleOf(b[pageSize : 3*pageSize])); err == nil {
		t.Error("a sample that is not there any more")
	}
}

// TestForget: forgotten memory does not make others look at pages.
func TestForget(t *testing.T) {
	path, b := mapped(t, 2)
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if err := use(b); err != nil {
		t.Fatal(err)
	}
	if Quiet(Now()) {
		t.Fatal("pages are replaced and nobody knows")
	}
	Forget(b)
	if !Quiet(Now()) {
		t.Error("pages of memory that was forgotten still count")
	}
}
