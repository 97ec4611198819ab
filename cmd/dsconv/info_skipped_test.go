package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// info lists what a pack skips of a source before it reads an image: the same names, for the same causes.
func TestInfoListsWhatIsSkipped(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir, image := t.TempDir(), read(t, imagesOf(t, samples(t, "20", "32x24"))[0])
	for name, write := range map[string]func(t *testing.T, image []byte) []byte{"x.zip": zipWithRefused, "web.tar": tarWithoutImages} {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, write(t, image), 0o644))
		code, said := dsconvSays("pack", path, filepath.Join(t.TempDir(), "out.tar"), "--json")
		if code != exitSkipped {
			t.Fatalf("pack %s: exit code %d: %s", name, code, said)
		}
		type list struct {
			Found   int
			Skipped []struct{ Path, Cause string }
		}
		var packed, described list
		must(t, json.Unmarshal([]byte(said[strings.IndexByte(said, '{'):]), &packed))
		code, said = dsconvSays("info", path, "--json")
		must(t, json.Unmarshal([]byte(said), &described))
		if code != exitDone || len(described.Skipped) != 12 || described.Found != packed.Found || !slices.Equal(described.Skipped, packed.Skipped) {
			t.Errorf("info --json %s: %d: %+v, pack has %+v", name, code, described, packed)
		}
		code, said = dsconvSays("info", path)
		first := fmt.Sprintf("skipped    12 of %d found\n  %s: ", packed.Found, packed.Skipped[0].Path)
		if code != exitDone || !strings.Contains(said, first) || !strings.Contains(said, "and 2 more (--json lists them all)") {
			t.Errorf("info %s: %d: %s", name, code, said)
		}
	}
	own := filepath.Join(dir, "own.tar")
	if code, said := dsconvSays("pack", filepath.Join(dir, "x.zip"), own); code != exitSkipped {
		t.Fatal(said)
	}
	if _, said := dsconvSays("info", own); strings.Contains(said, "skipped") {
		t.Errorf("a dataset of dsconv: %s", said)
	}
}

// zipWithRefused is a zip of two images, and of 12 members whose names lead out of it.
func zipWithRefused(t *testing.T, image []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := range 14 {
		name := fmt.Sprintf("a/%02d.jpg", i)
		if i > 1 {
			name = "../" + name
		}
		f, err := w.Create(name)
		must(t, err)
		_, err = f.Write(image)
		must(t, err)
	}
	must(t, w.Close())
	return b.Bytes()
}

// tarWithoutImages is a WebDataset of two samples, and of 12 without an image.
func tarWithoutImages(t *testing.T, image []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	add := func(name string, data []byte) {
		must(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(data))}))
		_, err := w.Write(data)
		must(t, err)
	}
	for i := range 14 {
		if i < 2 {
			add(fmt.Sprintf("%02d.jpg", i), image)
		}
		add(fmt.Sprintf("%02d.cls", i), []byte("0"))
	}
	must(t, w.Close())
	return b.Bytes()
}
