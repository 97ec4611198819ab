package codec

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

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

// What libwebp makes of any bytes is an image of the header's shape, or an error.
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
		if formats.Sniff(data) != formats.WebP {
			return
		}
		d := NewDecoder()
		defer d.Close()
		var m pixel.Image
		err := d.Decode(&m, &formats.Value{Data: data}, DecodeOptions{Color: pixel.ColorKeep, MaxPixels: 1 << 16})
		if _, h, _ := Inspect(data); err == nil && (m.H != h.H || m.W != h.W || m.C != h.C || m.Check() != nil) {
			t.Errorf("%dx%dx%d where the header says %+v", m.H, m.W, m.C, h)
		}
	})
}
