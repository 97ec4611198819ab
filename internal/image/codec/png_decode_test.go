package codec

import (
	"bytes"
	"image/png"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// PNGs that image/png decodes have the same pixels here, and no warning; the others have one, or an error.
func TestPNGEqualsStdlib(t *testing.T) {
	equal, all := 0, 0
	for _, o := range pixeltest.IrregularImages(t) {
		if formats.Sniff(o.Data) != formats.PNG {
			continue
		}
		all++
		if comparePNG(t, o.Name, o.Data) {
			equal++
		}
	}
	if equal < 100 {
		t.Errorf("%d of %d are equal", equal, all)
	}
}

func comparePNG(t *testing.T, name string, data []byte) bool {
	t.Helper()
	d := NewDecoder()
	defer d.Close()
	var m, want pixel.Image
	_, h, err := Inspect(data)
	if err != nil || CheckSize(h, 1<<20) != nil {
		return false
	}
	err = d.Decode(&m, &formats.Value{Data: data}, DecodeOptions{Color: pixel.ColorKeep})
	img, stdErr := png.Decode(bytes.NewReader(data))
	switch {
	case err != nil: // Pillow refuses some that the standard library takes
	case stdErr != nil && d.Warning() == "":
		t.Errorf("%s: no warning, but image/png: %v", name, stdErr)
	case stdErr != nil:
	case pixeltest.ReadImage(&want, img, h) != nil || !bytes.Equal(m.Pix, want.Pix):
		t.Errorf("%s: pixels differ", name)
	case d.Warning() != "":
		t.Errorf("%s: image/png decodes it, but %q", name, d.Warning())
	default:
		return true
	}
	return false
}

func FuzzPNG(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		if formats.Sniff(data) == formats.PNG {
			comparePNG(t, "fuzzed", data)
		}
	})
}
