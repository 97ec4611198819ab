package resample

import (
	"math"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/budget"
	"github.com/dsconv/dsconv/internal/image/buffer"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// ResizeMemory estimates the bytes that scaling an image of h by w pixels of c channels to toH by toW
// takes, of which region is computed, without the image and the result.
func ResizeMemory(h, w, toH, toW, c int, region pixel.Rect, f pixel.Filter, d formats.DType) int64 {
	if h == toH && w == toW {
		return 0
	}
	n := int64(0)
	size := c * d.Size()
	if c == 2 || c == 4 {
		n += budget.ImageBytes(h, w, size) // premultiplied
	}
	if f == pixel.Nearest {
		return n + 4*int64(region.W+region.H)
	}
	n += weightsMemory(w, toW, region.W, f, d) + weightsMemory(h, toH, region.H, f, d)
	if d == formats.Uint16 {
		return n + max(budget.ImageBytes(h, region.W, size), budget.ImageBytes(region.H, w, size))
	}
	return n + kernelMemory(h, w, toH, toW, c, region, f)
}

// weightsMemory is the memory of an axis's coefficients.
func weightsMemory(in, out, needed int, f pixel.Filter, d formats.DType) int64 {
	if in == out {
		return 0
	}
	taps := maxTaps(in, out, f)
	if out <= maxWholeAxis {
		needed = out
	}
	size := 4
	if d == formats.Uint16 {
		size = 8
	}
	return budget.ImageBytes(needed+pixelGroup-1, taps, size) + int64(8*taps)
}

// maxTaps is the largest number of source pixels of an output pixel.
func maxTaps(in, out int, f pixel.Filter) int {
	reach := kernels[f].support * max(float64(in)/float64(out), 1)
	return min(2*int(math.Ceil(reach))+2, in+1)
}

// kernelMemory is dsconv_scratch of the C kernels.
func kernelMemory(h, w, toH, toW, c int, region pixel.Rect, f pixel.Filter) int64 {
	const rows = 4 // DSCONV_MAX_ROWS
	first := verticalFirst(w, h, toW, toH)
	copied := min(rows, h)
	if first {
		copied = min(rows, region.H)
	}
	n := budget.ImageBytes(copied, w, c) + budget.ImageBytes(rows+1, region.W, c)
	if !first && h != toH && w != toW {
		n += budget.ImageBytes(min(2*maxTaps(h, toH, f)+16, h+rows), region.W, c)
	}
	return n
}

// Shrink frees large buffers.
func (r *Resampler) Shrink() {
	for _, m := range []*pixel.Image{&r.tmp, &r.pre, &r.scaled} {
		m.Shrink()
	}
	r.cache.inUse = nil // it may be too large for the cache
	r.scratch, r.xs, r.ys, r.columns = buffer.DropLarge(r.scratch), buffer.DropLarge(r.xs), buffer.DropLarge(r.ys), buffer.DropLarge(r.columns)
	r.warping = warping{}
}
