package codec

import (
	"bytes"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Inspect reads an image file's header and no pixels. It allocates nothing. ErrNotImage,
// ErrTruncated, ErrCorrupt or ErrUnsupported is in the chain of an error.
func Inspect(data []byte) (formats.Encoding, pixel.Header, error) {
	enc := formats.Sniff(data)
	h, err := inspectAs(data, enc)
	return enc, h, err
}

func inspectAs(data []byte, enc formats.Encoding) (h pixel.Header, err error) {
	switch enc {
	case formats.JPEG:
		h, err = jpeg.Inspect(data)
	case formats.PNG:
		h, err = inspectPNG(data)
	case formats.GIF:
		h, err = inspectGIF(data)
	case formats.BMP:
		h, err = inspectBMP(data)
	case formats.TIFF:
		h, err = inspectTIFF(data)
	case formats.WebP:
		h, err = inspectWebP(data)
	default:
		if len(data) == 0 {
			return pixel.Header{}, fmt.Errorf("%w: no data", pixel.ErrTruncated)
		}
		if bytes.HasPrefix(data, []byte("MM\x00+")) {
			return pixel.Header{}, fmt.Errorf("%w: a big-endian BigTIFF, which Pillow does not read either", pixel.ErrNotImage)
		}
		return pixel.Header{}, notImage(data)
	}
	if err != nil {
		return pixel.Header{}, err
	}
	if h.H <= 0 || h.W <= 0 {
		return pixel.Header{}, fmt.Errorf("%w: size %dx%d", pixel.ErrCorrupt, h.W, h.H)
	}
	return h, nil
}

// notImage returns the error about data that are no image, which says what they are if that is known.
func notImage(data []byte) error {
	if what := formats.Content(data); what != "" {
		return fmt.Errorf("%w: it is %s", pixel.ErrNotImage, what)
	}
	return pixel.ErrNotImage
}

func inspectGIF(data []byte) (pixel.Header, error) {
	f, err := firstFrame(data)
	if err != nil {
		return pixel.Header{}, err
	}
	return pixel.Header{H: f.canvas.Max.Y, W: f.canvas.Max.X, C: 3, DType: formats.Uint8, Orientation: 1, Palette: true}, nil
}
