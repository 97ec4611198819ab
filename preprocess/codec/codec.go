// Package codec decodes and encodes single images: JPEG, PNG, GIF, BMP, TIFF, WebP and raw pixels. It
// has the image files' own formats and the pixels that Pillow gives, in memory of image.Image or of
// [pixel.Image].
//
//	img, err := codec.DecodeImage(file, codec.DecodeOptions{EXIF: pixel.EXIFApply}) // an image.Image
//	...
//
//	m, err := codec.Decode(data, codec.DecodeOptions{Region: pixel.Rect{X: 10, Y: 10, W: 64, H: 64}})
//	...
//	err = codec.Encode(out, m, codec.EncodeOptions{Encoding: formats.JPEG, Quality: 90})
//
// # Pixels
//
// The pixels equal Pillow's bit for bit: Image.open(p).convert("RGB") for [pixel.ColorRGB],
// convert("L") for [pixel.ColorGray], the file's own channels and depth for [pixel.ColorKeep].
// JPEGs are decoded and encoded by libjpeg-turbo with the accurate DCT and fancy upsampling. A build
// with CGO_ENABLED=0 returns [pixel.ErrNoCgo] for them, and for WebP and TIFF. The EXIF
// orientation is ignored, as Pillow does, unless [DecodeOptions] say otherwise.
//
// # Memory
//
// The functions are for any goroutine. All images of a process share a memory budget, so that files that claim to be huge wait for each other or are
// refused.
//
// # Errors
//
// [pixel.ErrNotImage], [pixel.ErrTruncated], [pixel.ErrCorrupt], [pixel.ErrTooLarge] and
// [pixel.ErrUnsupported] are about the image: skip it. Errors of a reader or writer that is given, such as an
// *fs.PathError, are passed on in the chain. For what other images would meet as well, such as a lack of
// memory, [pixel.EndsRun] reports true.
package codec

import (
	"cmp"
	"errors"
	"fmt"
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
// Image.open(p).convert("RGB"). Color, Deep, EXIF, Indices, Region, Mode, MinW and MinH say which pixels, MaxPixels
// and MaxBytes are limits.
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

// EncodeOptions say how images are written. In a recipe, the zero value keeps the source's bytes.
// Their text is the value of --encode: keep, png, raw, jpeg-tiled[:MCUS] or
// jpeg[:QUALITY][:444|422|420][:optimize|progressive][:tile=MCUS].
type EncodeOptions = inner.EncodeOptions

const (
	// DefaultInterval is the number of MCUs between restart markers where none is given.
	DefaultInterval = inner.DefaultInterval
	// DefaultQuality is the quality of a JPEG where none is given.
	DefaultQuality = inner.DefaultQuality
)

// Encode writes m as o says: as JPEG, which holds 1 or 3 channels of 8 bits, as PNG, or raw. A JPEG is
// what Pillow's save(quality=, subsampling=, optimize=, progressive=) writes; a quality of 0 is
// DefaultQuality. A PNG has m's channels and depth and is compressed for speed; equal images give equal
// files.
func Encode(w io.Writer, m *pixel.Image, o EncodeOptions) error {
	if o.Encoding == formats.JPEG {
		o.Quality = cmp.Or(o.Quality, DefaultQuality)
	}
	if err := errors.Join(m.Check(), o.Check("EncodeOptions")); err != nil {
		return fmt.Errorf("codec: encode: %w", err)
	}
	if o.Encoding == "" {
		return fmt.Errorf("codec: encode to %q: set EncodeOptions.Encoding to formats.JPEG, PNG or Raw", o)
	}
	e := inner.NewEncoder()
	defer e.Close()
	var v formats.Value
	if err := e.Encode(&v, m, o, 0); err != nil {
		return err
	}
	if _, err := w.Write(v.Data); err != nil {
		return fmt.Errorf("write the image: %w", err)
	}
	return nil
}

// EncodeImage is Encode for an image of the standard library; see pixel.FromImage for its pixels.
func EncodeImage(w io.Writer, img image.Image, o EncodeOptions) error {
	m, err := pixel.FromImage(img)
	if err != nil {
		return err
	}
	return Encode(w, m, o)
}
