package codec

import (
	"errors"
	"fmt"
	"image"
	"io"

	"github.com/dsconv/dsconv/formats"
	inner "github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Mode is how JPEGs are decoded. "" is Exact.
type Mode string

// The ways to decode JPEGs.
const (
	// Exact gives Pillow's pixels.
	Exact Mode = "exact"
	// Fast gives pixels close to them: the fast DCT, colours that are not interpolated, and an image
	// that is scaled down by 2, 4 or 8 as far as MinW and MinH allow.
	Fast Mode = "fast"
)

// MarshalText implements encoding.TextMarshaler.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m), nil }

// UnmarshalText reads the value of --decode; "" is the default.
func (m *Mode) UnmarshalText(text []byte) error {
	switch mode := Mode(text); mode {
	case "", Exact, Fast:
		*m = mode
		return nil
	}
	return fmt.Errorf("decode %q: choose exact or fast", text)
}

// DefaultMaxBytes is the size of the largest file that is read from an io.Reader.
const DefaultMaxBytes = inner.DefaultMaxBytes

// DecodeOptions choose the pixels of a decoded image. The zero value is Pillow's
// Image.open(p).convert("RGB").
type DecodeOptions struct {
	Color pixel.Color
	// Deep keeps 16 bits per channel in images that have them, whatever Color they are converted
	// to. Without it Color decides, and the pixels are Pillow's.
	Deep bool
	// EXIF says whether the image is turned and flipped as its EXIF orientation says.
	EXIF pixel.EXIF
	// Indices decodes a palette image to its indices (H, W, 1) instead of its colours, and one of single
	// bits to 0 and 1, as numpy.asarray(Image.open(p)) does for segmentation masks.
	Indices bool
	// MaxPixels is the largest H*W; 0 is pixel.DefaultMaxPixels.
	MaxPixels int
	// MaxBytes is the size of the largest file that DecodeFrom and DecodeImage read; 0 is
	// DefaultMaxBytes.
	MaxBytes int64
	// Region is the rectangle to decode, of the upright image with EXIFApply; the zero Rect is all.
	// Of a JPEG little more than that is decoded, so that damage elsewhere is not found. The pixels
	// equal those of the whole image bit for bit, except with Fast.
	Region pixel.Rect
	// Mode is Exact or Fast. With Fast, a JPEG may be scaled down by 2, 4 or 8 as long as Region keeps
	// at least MinW by MinH pixels (0: not scaled), and the result may begin and end within a pixel of
	// Region.
	Mode       Mode
	MinW, MinH int
}

// inner returns the decoder's own options, or an error that names the invalid field.
func (o DecodeOptions) inner() (inner.DecodeOptions, error) {
	if err := errors.Join(o.Color.UnmarshalText([]byte(o.Color)), o.EXIF.UnmarshalText([]byte(o.EXIF)), o.Mode.UnmarshalText([]byte(o.Mode))); err != nil {
		return inner.DecodeOptions{}, fmt.Errorf("codec: %w", err)
	}
	if o.MaxPixels < 0 || o.MaxBytes < 0 || o.MinW < 0 || o.MinH < 0 {
		return inner.DecodeOptions{}, fmt.Errorf("codec: MaxPixels %d, MaxBytes %d, MinW %d, MinH %d: none may be negative", o.MaxPixels, o.MaxBytes, o.MinW, o.MinH)
	}
	return inner.DecodeOptions{
		Color: o.Color, Deep: o.Deep, ApplyOrientation: o.EXIF == pixel.EXIFApply, Indices: o.Indices, MaxPixels: o.MaxPixels,
		Region: o.Region, Fast: o.Mode == Fast, MinH: o.MinH, MinW: o.MinW,
	}, nil
}

// Decode decodes the bytes of an image file, of any encoding. The image is the caller's. See the package
// for the errors.
func Decode(data []byte, o DecodeOptions) (*pixel.Image, error) {
	options, err := o.inner()
	if err != nil {
		return nil, err
	}
	d, m := inner.NewDecoder(), new(pixel.Image)
	defer d.Close()
	if err := d.Decode(m, &formats.Value{Data: data}, options); err != nil {
		return nil, err
	}
	return m, nil
}

// DecodeFrom reads an image file to its end and decodes it. Data that do not begin as an image are
// refused at once, and more than o.MaxBytes with pixel.ErrTooLarge.
func DecodeFrom(r io.Reader, o DecodeOptions) (*pixel.Image, error) {
	data, err := inner.ReadAll(r, o.MaxBytes)
	if err != nil {
		return nil, err
	}
	return Decode(data, o)
}

// DecodeImage is DecodeFrom with an image of the standard library as the result; see
// pixel.Image.ToImage for its type.
func DecodeImage(r io.Reader, o DecodeOptions) (image.Image, error) {
	m, err := DecodeFrom(r, o)
	if err != nil {
		return nil, err
	}
	return m.ToImage(), nil
}

// Inspect reads an image file's header and no pixels. It allocates nothing.
func Inspect(data []byte) (formats.Encoding, pixel.Header, error) { return inner.Inspect(data) }
