package preprocess

import (
	"bytes"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// What the decoder of plain PNGs takes, the other one takes without a warning and with the same
// pixels.
func TestPlainPNGEqualsOther(t *testing.T) {
	plain, all := 0, 0
	for _, o := range oddImages(t) {
		if formats.Sniff(o.data) != formats.PNG {
			continue
		}
		all++
		if comparePlain(t, o.name, o.data) {
			plain++
		}
	}
	if plain < 100 {
		t.Errorf("%d of %d are plain", plain, all)
	}
}

func comparePlain(t *testing.T, name string, data []byte) bool {
	t.Helper()
	var d simplePNG
	var m, want Image
	_, h, err := Inspect(data)
	if err != nil || checkSize(h, 1<<20) != nil || !d.decode(&m, data, h) {
		return false
	}
	img, warning, err := decodePNG(bytes.NewReader(data), data, h, func(int64) error { return nil })
	if err != nil || warning != "" || fromStdlib(&want, img, h) != nil {
		t.Errorf("%s: plain, and then %v, %q", name, err, warning)
	} else if !bytes.Equal(m.Pix, want.Pix) {
		t.Errorf("%s: other pixels", name)
	}
	return true
}

func FuzzPlainPNG(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		if formats.Sniff(data) == formats.PNG {
			comparePlain(t, "fuzzed", data)
		}
	})
}
