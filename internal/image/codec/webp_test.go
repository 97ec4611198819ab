package codec

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// The pure-Go decoder equals libwebp.
func TestWebPInGo(t *testing.T) {
	if jpeg.DecoderName != "libjpeg-turbo" {
		t.Skip("a build without libwebp")
	}
	p := pixeltest.StartPillow(t)
	dir := t.TempDir()
	made := p.Ask(pixeltest.Ask{"op": "make", "dir": dir, "sizes": [][2]int{{1, 1}, {2, 3}, {7, 5}, {8, 8}, {17, 33}, {64, 48}}})
	n := 0
	for _, name := range made.Names {
		if strings.HasSuffix(name, ".webp") {
			n++
			compareWebP(t, name, pixeltest.ReadValue(t, filepath.Join(dir, name)).Data)
		}
	}
	if n < 50 {
		t.Errorf("%d WebPs", n)
	}
}

// compareWebP decodes with libwebp and in pure Go, and reports whether the latter succeeded.
func compareWebP(t *testing.T, name string, data []byte) bool {
	t.Helper()
	_, h, err := Inspect(data)
	if err != nil || CheckSize(h, 1<<16) != nil {
		return false
	}
	f, err := firstWebPFrame(data)
	if err != nil || f.check(h) != nil {
		return false
	}
	for _, channels := range []int{3, 4} {
		var a, b pixel.Image
		a.Reset(h.H, h.W, channels, h.DType)
		b.Reset(h.H, h.W, channels, h.DType)
		clear(a.Pix)
		clear(b.Pix)
		if goWebPixels(&a, f) != nil || webpPixels(&b, data, f) != nil {
			return false
		}
		if !bytes.Equal(a.Pix, b.Pix) {
			t.Errorf("%s: pixels differ in Go, %d channels", name, channels)
		}
	}
	return true
}

func TestInspectWebP(t *testing.T) {
	for name, want := range map[string]pixel.Header{
		"lossy.webp":    {H: 17, W: 19, C: 3, DType: formats.Uint8, Orientation: 1},
		"lossless.webp": {H: 17, W: 19, C: 3, DType: formats.Uint8, Orientation: 1},
		"alpha.webp":    {H: 17, W: 19, C: 4, DType: formats.Uint8, Orientation: 6},
		"animated.webp": {H: 17, W: 19, C: 4, DType: formats.Uint8, Orientation: 1},
	} {
		data, err := os.ReadFile(pixeltest.Testdata("sound", name))
		if err != nil {
			t.Fatal(err)
		}
		enc, h, err := Inspect(data)
		if enc != formats.WebP || h != want || err != nil || structureError(data, enc) != nil {
			t.Errorf("%s: %s %+v, %v", name, enc, h, err)
		}
		// Pillow reads no truncated WebP.
		d := NewDecoder()
		for n := range len(data) {
			var m pixel.Image
			if err := d.Decode(&m, &formats.Value{Data: data[:n]}, DecodeOptions{}); !errors.Is(err, pixel.ErrTruncated) && n >= webpStart {
				t.Errorf("%s cut to %d of %d bytes: %v", name, n, len(data), err)
			}
		}
		d.Close()
	}
}

// Images that both libwebp and the pure-Go decoder read have the same pixels, and pixels around the frame
// do not change.
func FuzzWebP(f *testing.F) {
	for _, name := range pixeltest.IntactNames(f) {
		if strings.HasSuffix(name, ".webp") {
			data, err := os.ReadFile(pixeltest.Testdata("sound", name))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if formats.Sniff(data) == formats.WebP {
			compareWebP(t, "fuzzed", data)
		}
	})
}
