package resample

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Axis is a row or column of In pixels that Filter scales to Out, of which N are needed, from First on.
type Axis struct {
	In, Out  int
	First, N int
	Filter   pixel.Filter
}

// Weights computes the weights with which a Resampler scales an axis of 8-bit pixels, for others that do the same
// sums. It keeps recent ones. The zero value is ready; it is for one goroutine.
type Weights struct{ cache coefficientCache }

// Whole returns the axis that a's weights are computed for: axes that differ only in which pixels are needed
// share those of all pixels, unless these are many.
func (a Axis) Whole() Axis {
	l := a.limited()
	first, end := l.outputRange()
	a.First, a.N = first, end-first
	return a
}

func (a Axis) limited() axis {
	x := axis{in: a.In, to: float32(a.In), out: a.Out, filter: cmp.Or(a.Filter, pixel.Bilinear), dtype: formats.Uint8}
	return x.limited(a.First, a.N)
}

// Append appends the starts of a.Whole()'s N pixels to words, then the taps weights of each, and returns taps. A pixel
// is the sum of taps source pixels from its start on, each times its weight, plus a half, divided by 2^22 and clipped to
// 8 bits. All source pixels lie inside the axis.
func (w *Weights) Append(words []int32, a Axis) (appended []int32, taps int, err error) {
	if a.In <= 0 || a.Out <= 0 || a.First < 0 || a.N <= 0 || a.N > a.Out-a.First || max(a.In, a.Out) > math.MaxInt32 {
		return words, 0, fmt.Errorf("weights of an axis of %d pixels for %d, of which %d from %d on", a.In, a.Out, a.N, a.First)
	}
	l := a.limited()
	if err := l.filter.UnmarshalText([]byte(l.filter)); err != nil {
		return words, 0, err
	}
	if l.filter == pixel.Nearest {
		words = append(words, nearestTable(nil, l)...)
		for range a.Whole().N {
			words = append(words, 1<<precisionBits)
		}
		return words, 1, nil
	}
	c := w.cache.get(l)
	words = append(words, c.start[:c.n]...)
	taps = min(c.taps, c.in)
	for i := range c.n {
		for k := range taps {
			words = append(words, c.fixed(i, k))
		}
	}
	return words, taps, nil
}

// VerticalFirst reports whether a Resampler scales the columns of an image of h by w pixels before its rows.
func VerticalFirst(h, w, toH, toW int) bool { return verticalFirst(w, h, toW, toH) }
