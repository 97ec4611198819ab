package pixeltest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// TestImage returns an image whose elements differ, the same at each call.
func TestImage(w, h, c int, d formats.DType) *pixel.Image {
	m := &pixel.Image{}
	m.Reset(h, w, c, d)
	state := uint32(w*131 + h*17 + c)
	for i := range m.Pix {
		state = state*1664525 + 1013904223
		m.Pix[i] = byte(state >> 24)
	}
	return m
}

// WithOrientation inserts an EXIF block into a JPEG.
func WithOrientation(jpeg []byte, o byte) []byte {
	exif := []byte("\xff\xe1\x00\x22Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00")
	exif[29] = o
	return slices.Concat(jpeg[:2], exif, jpeg[2:])
}

// ReadValue reads an image file.
func ReadValue(t *testing.T, path string) *formats.Value {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return &formats.Value{Data: data, Encoding: formats.Sniff(data)}
}

// Photos lists the real photos of DSCONV_PHOTOS, or skips the test.
func Photos(t testing.TB) []string {
	dir := os.Getenv("DSCONV_PHOTOS")
	if dir == "" {
		t.Skip("DSCONV_PHOTOS is not set")
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*", "*", "*.jpg"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no photos in %s: %v", dir, err)
	}
	return paths
}

// Testdata is a file of preprocess/testdata, for tests in any package of the module.
func Testdata(name ...string) string {
	dir := "."
	for range 4 {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		dir = filepath.Join(dir, "..")
	}
	return filepath.Join(append([]string{dir, "preprocess", "testdata"}, name...)...)
}
