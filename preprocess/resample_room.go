package preprocess

import (
	"math"

	"github.com/dsconv/dsconv/formats"
)

// ResizeRoom is about how many bytes it takes to scale an image of h by w pixels of c channels
// to toH by toW, of which part is computed, without the image and the result.
func ResizeMemory(h, w, toH, toW, c int, part Rect, f Filter, d formats.DType) int64 {
	if h == toH && w == toW {
		return 0
	}
	n := int64(0)
	pixel := c * d.Size()
	if c == 2 || c == 4 {
		n += imageBytes(h, w, pixel) // premultiplied
	}
	if f == Nearest {
		return n + 4*int64(part.W+part.H)
	}
	n += weightsMemory(w, toW, part.W, f, d) + weightsMemory(h, toH, part.H, f, d)
	if d == formats.Uint16 {
		return n + max(imageBytes(h, part.W, pixel), imageBytes(part.H, w, pixel))
	}
	return n + max(kernelMemory(h, w, toH, toW, c, part, f), imageBytes(h, part.W, pixel)*int64(goKernels))
}

// weightsRoom is the memory of an axis's coefficients.
func weightsMemory(in, out, wanted int, f Filter, d formats.DType) int64 {
	if in == out {
		return 0
	}
	taps := maxTaps(in, out, f)
	if out <= maxWholeAxis {
		wanted = out
	}
	size := 4
	if d == formats.Uint16 {
		size = 8
	}
	return imageBytes(wanted+pixelGroup-1, taps, size) + int64(8*taps)
}

// weightsOf is the most source pixels that an output pixel is made of.
func maxTaps(in, out int, f Filter) int {
	reach := kernels[f].support * max(float64(in)/float64(out), 1)
	return min(2*int(math.Ceil(reach))+2, in+1)
}

// kernelRoom is dsconv_scratch of the kernels in C.
func kernelMemory(h, w, toH, toW, c int, part Rect, f Filter) int64 {
	const rows = 4 // DSCONV_MAX_ROWS
	first := verticalFirst(w, h, toW, toH)
	copied := min(rows, h)
	if first {
		copied = min(rows, part.H)
	}
	n := imageBytes(copied, w, c) + imageBytes(rows+1, part.W, c)
	if !first && h != toH && w != toW {
		n += imageBytes(min(2*maxTaps(h, toH, f)+16, h+rows), part.W, c)
	}
	return n
}

// Shrink drops large buffers.
func (r *Resampler) Shrink() {
	for _, m := range []*Image{&r.tmp, &r.pre, &r.scaled} {
		m.Shrink()
	}
	r.cache.inUse = nil // which may be too large to be cached
	r.scratch, r.xs, r.ys, r.offsets = dropLarge(r.scratch), dropLarge(r.xs), dropLarge(r.ys), dropLarge(r.offsets)
}
