package folder

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/dsconv/dsconv/internal/testing/foldertest"
)

// unknownNames are files whose names tell nothing, with how they begin.
var unknownNames = map[string]string{
	"cat/0a1b2c":          foldertest.JPEGHead,
	"cat/d41d8cd9.8f00b2": foldertest.JPEGHead,
	"cat/photo.jpg_large": foldertest.JPEGHead,
	"cat/photo.jpg":       foldertest.JPEGHead,
	"cat/photo.jpg.1":     foldertest.JPEGHead,
	"cat/photo.jpg:orig":  "\x89PNG\r\n\x1a\n",
	"dog/a":               "GIF89a",
	"dog/phone":           "\x00\x00\x00\x18ftypheic",
	"dog/page":            "<!DOCTYPE html>",
	"dog/lfs":             "version https://git-lfs.github.com/spec/v1\n",
	"dog/broken":          "\x00\x01\x02",
	"dog/nothing":         "",
	"dog/a.ppm":           "P6\n1 1\n255\nabc",
	"dog/a.arw":           "II*\x00",
	"dog/README":          "these are dogs",
	"dog/notes.txt":       foldertest.JPEGHead, // what is known to be no image is not looked into
	"dog/.hidden":         foldertest.JPEGHead,
	"dog/photo.jpg.part":  foldertest.JPEGHead,
	"dog/photo.jpg~":      foldertest.JPEGHead,
	"labels.csv":          "path,label\ncat/0a1b2c,x\ndog/README,y\ndog/page,y\ndog/notes.txt,x\n",
}

func unknownTree(t *testing.T) (root string, files fstest.MapFS) {
	root, files = t.TempDir(), fstest.MapFS{}
	for name, data := range unknownNames {
		foldertest.Must(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
		foldertest.Must(t, os.WriteFile(filepath.Join(root, name), []byte(data), 0o644))
		files[name] = &fstest.MapFile{Data: []byte(data)}
	}
	foldertest.Must(t, os.Symlink("0a1b2c", filepath.Join(root, "cat/link")))
	return root, files
}

// Files whose names tell nothing are images if their first bytes say so. What is left out is counted or named.
func TestFilesOfUnknownNames(t *testing.T) {
	root, files := unknownTree(t)
	keys := "cat/0a1b2c cat|cat/d41d8cd9.8f00b2 cat|%scat/photo cat|cat/photo.jpg.1 cat|cat/photo.jpg:orig cat|cat/photo.jpg_large cat|dog/a dog"
	inFS, err := OpenTree(t.Context(), foldertest.AsTree(files), Config{})
	foldertest.Must(t, err)
	for link, d := range map[string]*Dataset{"cat/link cat|": open(t, root, Config{}), "": inFS} {
		if got, want := strings.ReplaceAll(strings.Join(foldertest.Rows(t, d), "|"), "  ", " "), fmt.Sprintf(keys, link); got != want {
			t.Errorf("samples %s, want %s", got, want)
		}
		checkSkips(t, d, map[string]string{
			"dog/phone": "HEIC", "dog/page": "HTML", "dog/lfs": "git lfs pull", "dog/broken": "unknown kind", "dog/nothing": "empty",
			"dog/a.ppm": "cannot read ppm", "dog/a.arw": "cannot read arw",
		})
		if d.Len()+len(d.Skips())+d.Ignored() != len(unknownNames)+strings.Count(link, "|") || len(d.KeepExtension()) > 0 {
			t.Errorf("%d samples, %d skipped, %d ignored of %d; %v", d.Len(), len(d.Skips()), d.Ignored(), len(unknownNames), d.KeepExtension())
		}
	}
}

// A table may name any of these files, and a list files of all names.
func TestListsOfUnknownNames(t *testing.T) {
	root, _ := unknownTree(t)
	d := open(t, root, Config{Labels: filepath.Join(root, "labels.csv")})
	if got := strings.Join(foldertest.Rows(t, d), "|"); got != "cat/0a1b2c  x" {
		t.Error(got)
	}
	causes := skipped(d)
	for name, want := range map[string]string{"dog/README": "text", "dog/page": "HTML", "dog/notes.txt": "no extension of an image"} {
		if !strings.Contains(causes[name], want) {
			t.Errorf("%s: %q, want %q", name, causes[name], want)
		}
	}
	for name, list := range map[string]string{
		"paths.txt": "cat/0a1b2c\ndog/notes.txt\ndog/README\ndog/page\ndog/a.ppm\n", "head.csv": "path\ncat/0a1b2c\ndog/notes.txt\ndog/README\ndog/page\ndog/a.ppm\n",
	} {
		foldertest.Must(t, os.WriteFile(filepath.Join(root, name), []byte(list), 0o644))
		d := openList(t, filepath.Join(root, name), Config{})
		if got := strings.Join(foldertest.Rows(t, d), "|"); got != "cat/0a1b2c  cat|dog/notes.txt  dog" {
			t.Error(got)
		}
		checkSkips(t, d, map[string]string{"dog/README": "text", "dog/page": "HTML", "dog/a.ppm": "cannot read ppm"})
	}
}

// Two sources must not hide an image of one another, whatever its name. Both may have a README.
func TestUnknownNamesInSeveralSources(t *testing.T) {
	a, b := foldertest.Tree(t, "cat/1.jpg", "cat/0a1b"), foldertest.Tree(t, "cat/2.jpg", "cat/0a1b")
	mounts := []Mount{{Path: a}, {Path: b}}
	if _, err := OpenMounts(t.Context(), mounts, Config{}); err == nil || !strings.Contains(err.Error(), "both have cat/0a1b") {
		t.Errorf("two images of one name: %v", err)
	}
	for _, root := range []string{a, b} {
		foldertest.Must(t, os.WriteFile(filepath.Join(root, "cat/0a1b"), bytes.Repeat([]byte("text "), 300), 0o644))
	}
	d, err := OpenMounts(t.Context(), mounts, Config{})
	foldertest.Must(t, err)
	if d.Len() != 2 {
		t.Errorf("%v", foldertest.Rows(t, d))
	}
}

func checkSkips(t *testing.T, d *Dataset, want map[string]string) {
	t.Helper()
	got := skipped(d)
	for name, cause := range want {
		if !strings.Contains(got[name], cause) {
			t.Errorf("%s: %q, want %q", name, got[name], cause)
		}
	}
	if len(d.Skips()) != len(want) {
		t.Errorf("skipped %v, want %v", d.Skips(), want)
	}
}
