package codec

import (
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/exif"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// bilevel reports whether an image's pixels are single bits of grey: Pillow's mode "1", of which
// numpy.asarray(Image.open(p)) is 0 and 1. A BMP of that kind has a palette: see decodeIndexedBMP.
func bilevel(data []byte, enc formats.Encoding) bool {
	switch enc {
	case formats.PNG:
		header, _, err := pngBeforePixels(data)
		return err == nil && header[8] == 1 && header[9] == pngGray
	case formats.TIFF:
		t, err := exif.ReadTags(data)
		if err != nil {
			return false
		}
		k, err := tiffKindOf(&t)
		return err == nil && k.bits == 1 && k.colors == tiffGray
	}
	return false
}

// zeroOne makes 1 of all pixels that are not 0.
func zeroOne(m *pixel.Image) {
	for i, v := range m.Pix {
		m.Pix[i] = min(v, 1)
	}
}
