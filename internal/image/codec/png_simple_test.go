package codec

import (
	"bytes"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/goimage"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// PNGs that simplePNG decodes have the same pixels, and no warning, with decodePNG.
func TestSimplePNGEqualsPNG(t *testing.T) {
	simple, all := 0, 0
	for _, o := range pixeltest.IrregularImages(t) {
		if formats.Sniff(o.Data) != formats.PNG {
			continue
		}
		all++
		if compareSimple(t, o.Name, o.Data) {
			simple++
		}
	}
	if simple < 100 {
		t.Errorf("%d of %d are simple", simple, all)
	}
}

func compareSimple(t *testing.T, name string, data []byte) bool {
	t.Helper()
	var d simplePNG
	var m, want pixel.Image
	_, h, err := Inspect(data)
	if err != nil || CheckSize(h, 1<<20) != nil || !d.decode(&m, data, h) {
		return false
	}
	img, warning, err := decodePNG(bytes.NewReader(data), data, h, func(int64) error { return nil })
	if err != nil || warning != "" || goimage.Read(&want, img, h) != nil {
		t.Errorf("%s: simple, but decodePNG: %v, %q", name, err, warning)
	} else if !bytes.Equal(m.Pix, want.Pix) {
		t.Errorf("%s: pixels differ", name)
	}
	return true
}

func FuzzSimplePNG(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		if formats.Sniff(data) == formats.PNG {
			compareSimple(t, "fuzzed", data)
		}
	})
}
