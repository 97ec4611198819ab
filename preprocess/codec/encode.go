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
