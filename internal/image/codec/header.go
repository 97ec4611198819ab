package codec

import (
	"bytes"
	"errors"
	"fmt"
	"io"

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

// DefaultMaxBytes is the size of the largest file that ReadAll reads.
const DefaultMaxBytes = 256 << 20

// sniffed is how many bytes tell whether data are an image.
const sniffed = 512

// ReadAll returns all bytes of r, at most limit of them, or DefaultMaxBytes if limit is 0. Data that do not
// begin as an image are refused at once.
func ReadAll(r io.Reader, limit int64) ([]byte, error) {
	switch {
	case limit < 0:
		return nil, fmt.Errorf("codec: MaxBytes %d: it must not be negative", limit)
	case limit == 0:
		limit = DefaultMaxBytes
	}
	var b bytes.Buffer
	if known, ok := r.(interface{ Len() int }); ok { // of bytes and strings
		b.Grow(int(min(int64(known.Len()), limit)) + bytes.MinRead)
	}
	limited := io.LimitReader(r, limit+1)
	if _, err := io.CopyN(&b, limited, sniffed); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read the image: %w", err)
	}
	if b.Len() > 0 && formats.Sniff(b.Bytes()) == "" {
		return nil, notImage(b.Bytes())
	}
	if _, err := b.ReadFrom(limited); err != nil {
		return nil, fmt.Errorf("read the image: %w", err)
	}
	if int64(b.Len()) > limit {
		return nil, fmt.Errorf("%w: the file is larger than %d bytes (MaxBytes)", pixel.ErrTooLarge, limit)
	}
	return b.Bytes(), nil
}
