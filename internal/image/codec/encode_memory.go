package codec

import (
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/budget"
	"github.com/dsconv/dsconv/internal/image/buffer"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Memory estimates the bytes that encoding an image takes, with the result.
func (o EncodeOptions) Memory(h, w, c int, d formats.DType) int64 {
	switch {
	case o.Encoding == formats.Raw:
		return budget.ImageBytes(h, w, 2*c*d.Size()) // and a copy by the writer
	case o.Encoding == formats.PNG:
		return budget.ImageBytes(pngFilters+3, w, c*d.Size()) // rows
	case o.Optimize || o.Progressive:
		return budget.ImageBytes(h, w, o.coefficientBytes(c))
	}
	return 0
}

// coefficientBytes is the memory of a pixel's coefficients.
func (o EncodeOptions) coefficientBytes(channels int) int {
	switch {
	case channels == 1:
		return 2
	case o.Sampling == pixel.Sampling444:
		return 2 * 3
	case o.Sampling == pixel.Sampling422:
		return 2 * 2
	}
	return 3
}

// Shrink frees large buffers.
func (e *Encoder) Shrink() {
	r := &e.png.rows
	r.blank = buffer.DropLarge(r.blank)
	for i := range r.out {
		r.out[i] = buffer.DropLarge(r.out[i])
	}
	for i := range e.png.bigEndian {
		e.png.bigEndian[i] = buffer.DropLarge(e.png.bigEndian[i])
	}
}
