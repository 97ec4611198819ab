package codec

import (
	"errors"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/forgotten"
	inner "github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Decoder decodes images of every encoding and keeps its memory from image to image. It is for one
// goroutine. Close frees its memory; one that is forgotten is freed once it is unreachable. The zero
// value is ready.
type Decoder struct {
	in   *inner.Decoder
	open *forgotten.Open
}

// NewDecoder returns a Decoder. It allocates nothing before the first image.
func NewDecoder() *Decoder { return new(Decoder) }

// start makes the decoder behind d before its first image.
func (d *Decoder) start() error {
	if d == nil {
		return errors.New("codec: the Decoder is nil: use NewDecoder")
	}
	if d.in == nil {
		d.in = inner.NewDecoder()
		d.open = forgotten.Track(d, "image decoder", d.in.Close)
	}
	return nil
}

// Close frees the Decoder's memory. It may be used again, and closed again.
func (d *Decoder) Close() {
	if d == nil || d.in == nil {
		return
	}
	d.open.Done()
	d.in.Close()
	d.in = nil
}

// Decode decodes the bytes of an image file to dst and reuses dst's memory. It keeps no reference to
// data or dst. See the package for the errors, after which dst's pixels are unspecified.
func (d *Decoder) Decode(dst *pixel.Image, data []byte, o DecodeOptions) error {
	return d.DecodeValue(dst, &formats.Value{Data: data}, o)
}

// DecodeValue is Decode for the value of a sample: an image file, or raw pixels of v.DType and v.Shape.
func (d *Decoder) DecodeValue(dst *pixel.Image, v *formats.Value, o DecodeOptions) error {
	if dst == nil || v == nil {
		return errors.New("codec: Decode: the destination or the value is nil")
	}
	options, err := o.inner()
	if err != nil {
		return err
	}
	if err := d.start(); err != nil {
		return err
	}
	return d.in.Decode(dst, v, options)
}

// Header returns the header of the last decoded image.
func (d *Decoder) Header() pixel.Header {
	if d == nil || d.in == nil {
		return pixel.Header{}
	}
	return d.in.Header()
}

// Warning says what was irregular about the last decoded image, "" if nothing was. It was decoded
// nevertheless, as Pillow does.
func (d *Decoder) Warning() string {
	if d == nil || d.in == nil {
		return ""
	}
	return d.in.Warning()
}

// Area returns where the requested region lies in the last decoded image: all of it, except that with
// Fast, pixels at the edges may also cover surroundings of the region.
func (d *Decoder) Area() pixel.Area {
	if d == nil || d.in == nil {
		return pixel.Area{}
	}
	return d.in.Area()
}
