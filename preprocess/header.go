package preprocess

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
)

// Inspect reads an image file's header and no pixels. It allocates nothing. ErrNotImage,
// ErrTruncated, ErrCorrupt or ErrUnsupported is in the chain of an error.
func Inspect(data []byte) (formats.Encoding, Header, error) {
	enc := formats.Sniff(data)
	h, err := inspectAs(data, enc)
	return enc, h, err
}

func inspectAs(data []byte, enc formats.Encoding) (h Header, err error) {
	switch enc {
	case formats.JPEG:
		h, err = inspectJPEG(data)
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
			return Header{}, fmt.Errorf("%w: no data", ErrTruncated)
		}
		return Header{}, ErrNotImage
	}
	if err != nil {
		return Header{}, err
	}
	if h.H <= 0 || h.W <= 0 {
		return Header{}, fmt.Errorf("%w: size %dx%d", ErrCorrupt, h.W, h.H)
	}
	return h, nil
}

func inspectGIF(data []byte) (Header, error) {
	f, err := firstFrame(data)
	if err != nil {
		return Header{}, err
	}
	return Header{H: f.canvas.Max.Y, W: f.canvas.Max.X, C: 3, DType: formats.Uint8, Orientation: 1, Palette: true}, nil
}
