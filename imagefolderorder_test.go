package dsconv_test

import (
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
)

// TestOtherOrderThanImageFolder is said, and only where there is one.
func TestOtherOrderThanImageFolder(t *testing.T) {
	for _, c := range []struct{ files, first, second string }{
		{"a/1.png a/2.png b/1.png", "", ""},
		{"train/a/1.png train/b/2.png val/a/3.png", "", ""},
		{"a/1.png b/2.png z.png", "", ""},
		{"a/1.png a/1-2.png b/1.png", "a/1-2.png", "a/1.png"},
		{"shirt/1.png shirt-long/1.png", "shirt/1.png", "shirt-long/1.png"},
		{"train/s/1.png train/s-l/1.png val/s/1.png", "train/s/1.png", "train/s-l/1.png"},
	} {
		root := t.TempDir()
		for _, name := range strings.Fields(c.files) {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			f, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := png.Encode(f, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
		ds, err := dsconv.OpenSource(t.Context(), root, folder.Config{})
		if err != nil {
			t.Fatal(err)
		}
		report, err := dsconv.NewReport(ds, formats.Patterns{})
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Join(report.LabelNotices, "\n")
		want := "ImageFolder has " + c.first + " before " + c.second
		if c.first == "" && strings.Contains(said, "before") || c.first != "" && !strings.Contains(said, want) {
			t.Errorf("%s: %q, want %q", c.files, said, want)
		}
		if err := ds.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
