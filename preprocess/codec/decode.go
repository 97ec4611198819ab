package codec

import (
	"image"
	"io"

	"github.com/dsconv/dsconv/formats"
	inner "github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Mode is how JPEGs are decoded. "" is Exact.
type Mode = inner.Mode

const (
	// Exact gives Pillow's pixels.
	Exact = inner.Exact
	// Fast gives pixels close to them: the fast DCT, colours that are not interpolated, and an image
	// that is scaled down by 2, 4 or 8 as far as MinW and MinH allow.
	Fast = inner.Fast
	// DefaultMaxBytes is the size of the largest file that is read from an io.Reader.
	DefaultMaxBytes = inner.DefaultMaxBytes
)

// DecodeOptions choose the pixels of a decoded image. The zero value is Pillow's
// Image.open(p).convert("RGB").
type DecodeOptions = inner.DecodeOptions

// Decode decodes the bytes of an image file, of any encoding. The image is the caller's. See the package
// for the errors.
func Decode(data []byte, o DecodeOptions) (*pixel.Image, error) {
	if err := inner.CheckOptions(o); err != nil {
		return nil, err
	}
	d, m := inner.NewDecoder(), new(pixel.Image)
	defer d.Close()
	if err := d.Decode(m, &formats.Value{Data: data}, o); err != nil {
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
