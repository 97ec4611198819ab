package codec

import (
	"cmp"
	"errors"
	"fmt"
	"image"
	"io"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/forgotten"
	inner "github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Encode writes m as o says: as JPEG, which holds 1 or 3 channels of 8 bits, as PNG, or raw. A JPEG is
// what Pillow's save(quality=, subsampling=, optimize=, progressive=) writes; a quality of 0 is
// DefaultQuality. A PNG has m's channels and depth and is compressed for speed; equal images give equal
// files.
func Encode(w io.Writer, m *pixel.Image, o EncodeOptions) error {
	if w == nil {
		return errors.New("codec: Encode: the writer is nil")
	}
	e := NewEncoder()
	defer e.Close()
	data, err := e.Append(nil, m, o)
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
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

// Encoder encodes images and keeps its memory from image to image. It is for one goroutine. Close frees
// its memory; one that is forgotten is freed once it is unreachable. The zero value is ready.
type Encoder struct {
	in   *inner.Encoder
	open *forgotten.Open
}

// NewEncoder returns an Encoder. It allocates nothing before the first image.
func NewEncoder() *Encoder { return new(Encoder) }

// Close frees the Encoder's memory. It may be used again, and closed again.
func (e *Encoder) Close() {
	if e == nil || e.in == nil {
		return
	}
	e.open.Done()
	e.in.Close()
	e.in = nil
}

// Append appends m to dst, encoded as by Encode. After an error it returns dst as it was.
func (e *Encoder) Append(dst []byte, m *pixel.Image, o EncodeOptions) ([]byte, error) {
	if e == nil {
		return dst, errors.New("codec: the Encoder is nil: use NewEncoder")
	}
	if o.Encoding == formats.JPEG {
		o.Quality = cmp.Or(o.Quality, DefaultQuality)
	}
	if err := errors.Join(m.Check(), o.Validate()); err != nil {
		return dst, fmt.Errorf("codec: encode: %w", err)
	}
	if e.in == nil {
		e.in = inner.NewEncoder()
		e.open = forgotten.Track(e, "image encoder", e.in.Close)
	}
	switch o.Encoding {
	case formats.JPEG:
		return e.in.AppendJPEG(dst, m, inner.Encode(o))
	case formats.PNG:
		return e.in.AppendPNG(dst, m)
	case formats.Raw:
		return append(dst, m.Pix...), nil
	}
	return dst, fmt.Errorf("codec: encode to %q: set EncodeOptions.Encoding to formats.JPEG, PNG or Raw", o)
}
