package codec

import (
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/budget"
	"github.com/dsconv/dsconv/preprocess/jpeg"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Room is about how many bytes it takes to encode an image, the result among them.
func (e Encode) Room(h, w, c int, d formats.DType) int64 {
	switch {
	case e.Encoding == formats.Raw:
		return budget.Area(h, w, 2*c*d.Size()) // and a copy that the writer makes
	case e.Encoding == formats.PNG:
		return budget.Area(pngFilters+3, w, c*d.Size()) // rows
	case e.Optimize || e.Progressive:
		return budget.Area(h, w, e.coefficients(c))
	}
	return 0
}

// coefficients is how many bytes those of a pixel take.
func (e Encode) coefficients(channels int) int {
	switch {
	case channels == 1:
		return 2
	case e.Sampling == jpeg.Sampling444:
		return 2 * 3
	case e.Sampling == jpeg.Sampling422:
		return 2 * 2
	}
	return 3
}

// Shrink drops large buffers.
func (e *Encoder) Shrink() {
	r := &e.png.rows
	r.blank = pixel.Shrunk(r.blank)
	for i := range r.out {
		r.out[i] = pixel.Shrunk(r.out[i])
	}
	for i := range e.png.wide {
		e.png.wide[i] = pixel.Shrunk(e.png.wide[i])
	}
}
