package resample

import (
	"math"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/buffer"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// precisionBits is the fixed point of 8-bit coefficients: 8 bits are the result's, and 2
// are for filters with negative weights (Pillow's Resample.c).
const precisionBits = 32 - 8 - 2

// axis is what coefficients depend on: a row or column of in pixels, of which the range
// [from, to) is scaled to out pixels.
type axis struct {
	in       int
	from, to float32
	out      int
	filter   pixel.Filter
	dtype    formats.DType
	// Only n of the out pixels are needed, from first on; n = 0 means all.
	first, n int
}

// outputRange is the range of output pixels that coefficients are computed for.
func (a axis) outputRange() (first, end int) {
	if a.n == 0 {
		return 0, a.out
	}
	return a.first, a.first + a.n
}

// limited returns a for n output pixels from first on. A short axis stays whole, so that its
// coefficients can be shared; Nearest has none to share.
func (a axis) limited(first, n int) axis {
	if n < a.out && (a.out > maxWholeAxis || a.filter == pixel.Nearest) {
		a.first, a.n = first, n
	}
	return a
}

// coefficients are the weights of the source pixels that each output pixel of an axis is
// computed from. Entry 0 is that of output pixel first.
type coefficients struct {
	in       int
	first, n int
	// For uint16: bounds has the first source pixel and their number, exact has taps weights
	// for each output pixel.
	bounds []int32
	exact  []float64
	// For uint8: start is the first source pixel of each output pixel's taps weights. A
	// fixed-point weight is split into its low 15 bits and the rest, so that 16-bit
	// multiplications suffice. Weights lie in pairs of neighbouring taps, two int32 a pair:
	// both low parts, then both high parts. taps is even and start+taps <= in where in allows,
	// so that loops need no special case at the end; for the same reason there are
	// pixelGroup-1 extra pixels of weight 0.
	start, weights []int32
	taps           int

	scratch []float64
}

// pixelGroup is how many pixels the SIMD loops compute at once.
const pixelGroup = 4

// compute is precompute_coeffs of Pillow's Resample.c. It reuses c's memory.
func (c *coefficients) compute(a axis) {
	s := newFilterWindow(a)
	first, end := a.outputRange()
	c.in, c.first, c.n = a.in, first, end-first
	if a.dtype == formats.Uint8 {
		c.setFixed(a, s)
	} else {
		c.setExact(a, s)
	}
}

// filterWindow is which source pixels an output pixel of an axis is computed from.
type filterWindow struct {
	kernel               kernel
	from, scale, support float64
	in                   int
	inverse              float64 // of the scale of the filter
	linear               bool
}

func newFilterWindow(a axis) filterWindow {
	k := kernels[a.filter]
	scale := float64(a.to-a.from) / float64(a.out)
	filterScale := max(scale, 1)
	return filterWindow{k, float64(a.from), scale, k.support * filterScale, a.in, 1 / filterScale, a.filter == pixel.Bilinear}
}

// sourceRange returns the centre of output pixel i in the source, its first source pixel and
// their number.
func (s *filterWindow) sourceRange(i int) (center float64, first, n int) {
	// The conversion keeps compilers from fusing the product into the sum.
	center = s.from + float64((float64(i)+0.5)*s.scale)
	first = max(int(center-s.support+0.5), 0)
	return center, first, min(int(center+s.support+0.5), s.in) - first
}

// computeWeights fills in the weights of the pixels from first on.
func (s *filterWindow) computeWeights(weights []float64, center float64, first int) {
	sum := 0.0
	if s.linear { // most of all resizes
		for x := range weights {
			w := max(1-math.Abs((float64(x+first)-center+0.5)*s.inverse), 0)
			weights[x] = w
			sum += w
		}
	} else {
		for x := range weights {
			weights[x] = s.kernel.at((float64(x+first) - center + 0.5) * s.inverse)
			sum += weights[x]
		}
	}
	if sum == 0 {
		return
	}
	for x := range weights {
		weights[x] /= sum
	}
}

func (c *coefficients) setExact(a axis, s filterWindow) {
	c.taps = min(int(math.Ceil(s.support))*2+1, a.in)
	c.bounds, c.exact = make([]int32, 2*c.n), make([]float64, c.taps*c.n)
	for i := range c.n {
		center, first, n := s.sourceRange(c.first + i)
		c.bounds[2*i], c.bounds[2*i+1] = int32(first), int32(n)
		s.computeWeights(c.exactWeights(i), center, first)
	}
}

// exactWeights are the weights of entry i.
func (c *coefficients) exactWeights(i int) []float64 {
	return c.exact[i*c.taps:][:c.bounds[2*i+1]]
}

// setFixed is normalize_coeffs_8bpc of Pillow's Resample.c too.
func (c *coefficients) setFixed(a axis, s filterWindow) {
	taps := 0
	for i := range c.n {
		_, _, n := s.sourceRange(c.first + i)
		taps = max(taps, n)
	}
	c.taps = (taps + 1) &^ 1
	c.bounds, c.exact = nil, nil // this memory may have been of an axis for uint16
	padded := c.n + pixelGroup - 1
	c.start = buffer.Grow(c.start, padded)
	c.weights = buffer.Grow(c.weights, padded*c.taps)
	clear(c.weights)
	c.scratch = buffer.Grow(c.scratch, taps)
	for i := range c.n {
		center, first, n := s.sourceRange(c.first + i)
		weights := c.scratch[:n]
		s.computeWeights(weights, center, first)
		start := max(min(first, a.in-c.taps), 0)
		c.start[i] = int32(start)
		c.quantize(c.weights[i*c.taps:][:c.taps], weights, first-start)
	}
	for i := c.n; i < padded; i++ {
		c.start[i] = c.start[c.n-1]
	}
}

// quantize writes weights in fixed point as pairs, from tap k on.
func (c *coefficients) quantize(pairs []int32, weights []float64, k int) {
	for _, w := range weights {
		fixed := int32(math.Copysign(0.5, w) + w*(1<<precisionBits))
		pair, shift := pairs[k&^1:][:2], 16*(k&1)
		pair[0] |= fixed & 0x7FFF << shift
		pair[1] |= int32(uint32(fixed>>15)&0xFFFF) << shift
		k++
	}
}

// fixed is weight k of entry i.
func (c *coefficients) fixed(i, k int) int32 {
	pair, shift := c.weights[i*c.taps+k&^1:][:2], 16*(k&1)
	return int32(int16(pair[1]>>shift))<<15 + int32(int16(pair[0]>>shift))
}

// slice returns the entries of the output pixels from first up to end, which must be among
// c's.
func (c *coefficients) slice(first, end int) coefficients {
	from, to := first-c.first, end-c.first
	p := coefficients{in: c.in, first: first, n: end - first, taps: c.taps}
	if c.exact != nil {
		p.bounds, p.exact = c.bounds[2*from:2*to], c.exact[from*c.taps:to*c.taps]
		return p
	}
	p.start, p.weights = c.start[from:to], c.weights[from*c.taps:to*c.taps]
	return p
}

// sourceRange is the range of source pixels that are used.
func (c *coefficients) sourceRange() (first, end int) {
	if c.exact != nil {
		return int(c.bounds[0]), int(c.bounds[2*c.n-2] + c.bounds[2*c.n-1])
	}
	return int(c.start[0]), min(int(c.start[c.n-1])+c.taps, c.in)
}

// bytes is the memory that c holds.
func (c *coefficients) bytes() int {
	return 4*(cap(c.bounds)+cap(c.start)+cap(c.weights)) + 8*(cap(c.exact)+cap(c.scratch))
}
