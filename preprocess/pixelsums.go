package preprocess

import (
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	inner "github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/internal/image/pixelsum"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Sums decodes the image v, which Process returned, to RGB with all its bits, and sums its pixels. An image whose bits
// cannot be kept, such as a TIFF of floats, has the 8 bits that a Loader gives it. The error is about the image, unless
// pixel.EndsRun reports true for it.
func (p *Processor) Sums(v *formats.Value) (s pixelsum.Image, err error) {
	if p.tools == nil {
		return s, fmt.Errorf("preprocess: Sums: the Processor did not come from NewProcessor, or %w", formats.ErrClosed)
	}
	defer p.free()
	o := inner.DecodeOptions{Color: pixel.ColorRGB, Deep: true, MaxPixels: p.recipe.MaxPixels, Reservation: &p.reservation}
	if err := p.decodeAtLeast8(v, o); err != nil {
		return s, err
	}
	return pixelsum.Of(&p.decoded)
}

// decode decodes v to p.decoded.
func (p *Processor) decode(v *formats.Value, o inner.DecodeOptions) error {
	return p.decoder.Decode(&p.decoded, v, o)
}

// decodeAtLeast8 decodes v to p.decoded. An image whose depth cannot be kept as o asks becomes 8-bit RGB.
func (p *Processor) decodeAtLeast8(v *formats.Value, o inner.DecodeOptions) error {
	err := p.decode(v, o)
	if errors.Is(err, pixel.ErrUnsupported) {
		o.Color, o.Deep = pixel.ColorRGB, false
		err = p.decode(v, o)
	}
	return err
}
