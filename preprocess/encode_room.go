package preprocess

import "github.com/dsconv/dsconv/formats"

// memory estimates the bytes that encoding an image takes, with the result.
func (e Encode) memory(h, w, c int, d formats.DType) int64 {
	switch {
	case e.Encoding == formats.Raw:
		return imageBytes(h, w, 2*c*d.Size()) // and a copy by the writer
	case e.Encoding == formats.PNG:
		return imageBytes(pngFilters+3, w, c*d.Size()) // rows
	case e.Optimize || e.Progressive:
		return imageBytes(h, w, e.coefficientBytes(c))
	}
	return 0
}

// coefficientBytes is the memory of a pixel's coefficients.
func (e Encode) coefficientBytes(channels int) int {
	switch {
	case channels == 1:
		return 2
	case e.Sampling == Sampling444:
		return 2 * 3
	case e.Sampling == Sampling422:
		return 2 * 2
	}
	return 3
}

// Shrink frees large buffers.
func (e *Encoder) Shrink() {
	r := &e.png.rows
	r.blank = dropLarge(r.blank)
	for i := range r.out {
		r.out[i] = dropLarge(r.out[i])
	}
	for i := range e.png.bigEndian {
		e.png.bigEndian[i] = dropLarge(e.png.bigEndian[i])
	}
}
