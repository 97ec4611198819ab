package preprocess

import (
	"math"

	"github.com/dsconv/dsconv/formats"
)

// precisionBits is the fixed point of 8-bit coefficients: 8 bits are the result's, and 2
// are for filters with negative parts (Pillow's Resample.c).
const precisionBits = 32 - 8 - 2

// coefficients tell for each pixel of an axis of out pixels which of in pixels it is made
// of, and how.
type coefficients struct {
	in int
	// bounds has the first source pixel and their number, taps of exact are the weights;
	// they are there for uint16.
	bounds []int32
	exact  []float64
	// start is the first source pixel of each pixel's taps weights in low and high, which
	// are the low 15 bits and the rest of the fixed-point weight, so that 16-bit
	// multiplications do; they are there for uint8. taps is a multiple of group, and
	// start+taps <= in where in allows, so that loops have no ends of their own; for the
	// same reason there are pixels of weight 0 up to the next multiple of group.
	start     []int32
	low, high []int16
	taps      int
}

const group = 4

func roundUp(n int) int { return (n + group - 1) / group * group }

// newCoefficients is precompute_coeffs of Pillow's Resample.c.
func newCoefficients(in, out int, k kernel, d formats.DType) *coefficients {
	scale := float64(in) / float64(out)
	filterScale := max(scale, 1)
	support := k.support * filterScale
	c := &coefficients{in: in, taps: min(int(math.Ceil(support))*2+1, in), bounds: make([]int32, 2*out)}
	c.exact = make([]float64, c.taps*out)
	for i := range out {
		center := (float64(i) + 0.5) * scale
		first := max(int(center-support+0.5), 0)
		n := min(int(center+support+0.5), in) - first
		c.bounds[2*i], c.bounds[2*i+1] = int32(first), int32(n)
		weights := c.weights(i)
		sum := 0.0
		for x := range weights {
			weights[x] = k.at((float64(x+first) - center + 0.5) * (1 / filterScale))
			sum += weights[x]
		}
		for x := range weights {
			if sum != 0 {
				weights[x] /= sum
			}
		}
	}
	if d == formats.Uint8 {
		c.quantize(out)
	}
	return c
}

// weights are the exact weights of output pixel i.
func (c *coefficients) weights(i int) []float64 {
	return c.exact[i*c.taps:][:c.bounds[2*i+1]]
}

// quantize is normalize_coeffs_8bpc of Pillow's Resample.c. The exact weights go.
func (c *coefficients) quantize(out int) {
	longest := 0
	for i := range out {
		longest = max(longest, int(c.bounds[2*i+1]))
	}
	taps := roundUp(longest)
	c.start = make([]int32, roundUp(out))
	weights := make([]int16, 2*taps*roundUp(out))
	c.low, c.high = weights[:len(weights)/2], weights[len(weights)/2:]
	for i := range out {
		first := int(c.bounds[2*i])
		start := max(min(first, c.in-taps), 0)
		c.start[i] = int32(start)
		at := i*taps + first - start
		for x, w := range c.weights(i) {
			fixed := int32(math.Copysign(0.5, w) + w*(1<<precisionBits))
			c.low[at+x], c.high[at+x] = int16(fixed&0x7FFF), int16(fixed>>15)
		}
	}
	c.taps, c.bounds, c.exact = taps, nil, nil
}

// fixed is the weight at place i of low and high.
func (c *coefficients) fixed(i int) int32 { return int32(c.high[i])<<15 + int32(c.low[i]) }

// span is the range of source pixels that out pixels use.
func (c *coefficients) span(out int) (first, end int) {
	if c.exact != nil {
		return int(c.bounds[0]), int(c.bounds[2*out-2] + c.bounds[2*out-1])
	}
	return int(c.start[0]), min(int(c.start[out-1])+c.taps, c.in)
}
