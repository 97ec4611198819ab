package preprocess

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
	inner "github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/internal/image/pixelsum"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Sums decodes the image v, which Process returned, to RGB with all its bits, and sums its pixels. The error
// is about the image, unless pixel.EndsRun reports true for it.
func (p *Processor) Sums(v *formats.Value) (s pixelsum.Image, err error) {
	if p == nil || p.tools == nil {
		return s, fmt.Errorf("preprocess: Sums: the Processor did not come from NewProcessor, or %w", formats.ErrClosed)
	}
	if v == nil {
		return s, fmt.Errorf("%w: preprocess: Sums: the value is nil", pixel.ErrUnsupported)
	}
	defer p.free()
	o := inner.DecodeOptions{Color: pixel.ColorRGB, Deep: true, MaxPixels: p.recipe.MaxPixels, Reservation: &p.reservation}
	if err := p.decoder.Decode(&p.decoded, v, o); err != nil {
		return s, err
	}
	return pixelsum.Of(&p.decoded)
}
