package resample

import (
	"math"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/budget"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// ResizeRoom is about how many bytes it takes to scale an image of h by w pixels of c channels
// to toH by toW, of which part is computed, without the image and the result.
func ResizeRoom(h, w, toH, toW, c int, part pixel.Rect, f Filter, d formats.DType) int64 {
	if h == toH && w == toW {
		return 0
	}
	n := int64(0)
	pixel := c * d.Size()
	if c == 2 || c == 4 {
		n += budget.Area(h, w, pixel) // premultiplied
	}
	if f == Nearest {
		return n + 4*int64(part.W+part.H)
	}
	n += weightsRoom(w, toW, part.W, f, d) + weightsRoom(h, toH, part.H, f, d)
	if d == formats.Uint16 {
		return n + max(budget.Area(h, part.W, pixel), budget.Area(part.H, w, pixel))
	}
	return n + max(kernelRoom(h, w, toH, toW, c, part, f), budget.Area(h, part.W, pixel)*int64(goKernels))
}

// weightsRoom is the memory of an axis's coefficients.
func weightsRoom(in, out, wanted int, f Filter, d formats.DType) int64 {
	if in == out {
		return 0
	}
	taps := weightsOf(in, out, f)
	if out <= wholeAxis {
		wanted = out
	}
	size := 4
	if d == formats.Uint16 {
		size = 8
	}
	return budget.Area(wanted+group-1, taps, size) + int64(8*taps)
}

// weightsOf is the most source pixels that an output pixel is made of.
func weightsOf(in, out int, f Filter) int {
	reach := kernels[f].support * max(float64(in)/float64(out), 1)
	return min(2*int(math.Ceil(reach))+2, in+1)
}

// kernelRoom is dsconv_scratch of the kernels in C.
func kernelRoom(h, w, toH, toW, c int, part pixel.Rect, f Filter) int64 {
	const rows = 4 // DSCONV_MAX_ROWS
	first := verticalFirst(w, h, toW, toH)
	copied := min(rows, h)
	if first {
		copied = min(rows, part.H)
	}
	n := budget.Area(copied, w, c) + budget.Area(rows+1, part.W, c)
	if !first && h != toH && w != toW {
		n += budget.Area(min(2*weightsOf(h, toH, f)+16, h+rows), part.W, c)
	}
	return n
}

// Shrink drops large buffers.
func (r *Resampler) Shrink() {
	for _, m := range []*pixel.Image{&r.tmp, &r.pre, &r.scaled} {
		m.Shrink()
	}
	r.axes.last = nil // which may be too large to be cached
	r.scratch, r.xs, r.ys, r.at = pixel.Shrunk(r.scratch), pixel.Shrunk(r.xs), pixel.Shrunk(r.ys), pixel.Shrunk(r.at)
}
