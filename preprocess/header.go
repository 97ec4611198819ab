package preprocess

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
)

// Header is what the beginning of an image file says. H, W, C and DType are those of Decode with
// ColorKeep and without ApplyOrientation.
type Header struct {
	H, W, C int
	DType   formats.DType
	// Orientation is the EXIF orientation, 1 to 8, 1 if there is none. A TIFF's orientation is
	// already applied to H and W (as in Pillow), so that Orientation is 1.
	Orientation int
	// Palette reports whether pixels are indices of a palette (PNG, BMP, GIF, TIFF).
	Palette bool
	// CoefficientBytes is the memory that decoding a JPEG of several scans, such as a progressive
	// one, takes in addition to its pixels; 0 for all other images.
	CoefficientBytes int
}

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
