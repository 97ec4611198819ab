package resample

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// kernel is a filter's function and half the width of its support in source pixels.
type kernel struct {
	support float64
	at      func(x float64) float64
}

// kernels are those of Pillow's Resample.c.
var kernels = map[pixel.Filter]kernel{
	pixel.Box:      {0.5, boxAt},
	pixel.Bilinear: {1, bilinearAt},
	pixel.Hamming:  {1, hammingAt},
	pixel.Bicubic:  {2, bicubicAt},
	pixel.Lanczos:  {3, lanczosAt},
}

func boxAt(x float64) float64 {
	if x > -0.5 && x <= 0.5 {
		return 1
	}
	return 0
}

func bilinearAt(x float64) float64 { return max(1-math.Abs(x), 0) }

func hammingAt(x float64) float64 {
	switch x = math.Abs(x); {
	case x == 0:
		return 1
	case x >= 1:
		return 0
	}
	x *= math.Pi
	// Pillow's constants are single precision.
	return math.Sin(x) / x * (float64(float32(0.54)) + float64(float32(0.46))*math.Cos(x))
}

func bicubicAt(x float64) float64 {
	const a = -0.5
	switch x = math.Abs(x); {
	case x < 1:
		return ((a+2)*x-(a+3))*x*x + 1
	case x < 2:
		return (((x-5)*x+8)*x - 4) * a
	}
	return 0
}

func lanczosAt(x float64) float64 {
	if -3 <= x && x < 3 {
		return sinc(x) * sinc(x/3)
	}
	return 0
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	x *= math.Pi
	return math.Sin(x) / x
}

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

const (
	// maxCachedAxes limits the entries of a cache. Random crops of one output size need an
	// entry for each side length, of about 4 KB.
	maxCachedAxes = 512
	// maxCacheBytes limits their memory: an entry grows with the side of its image.
	maxCacheBytes = 16 << 20
	// maxWholeAxis is the longest output whose coefficients are always computed for the whole
	// axis, so that crops at different positions share them.
	maxWholeAxis = 8192
)

// coefficientCache keeps the coefficients of recent axes. The zero value is ready.
type coefficientCache struct {
	entries map[axis]*coefficients
	order   []axis // of entries, as a ring
	oldest  int    // position in order of the entry to evict next
	bytes   int    // that the entries hold
	inUse   *coefficients
}

// get returns the coefficients of a. They are valid until the call of get after the next.
func (x *coefficientCache) get(a axis) *coefficients {
	c := x.entries[a]
	if c == nil {
		c = x.add(a)
	}
	x.inUse = c
	return c
}

// add computes the coefficients of a, in the memory of an evicted entry if the cache is full.
func (x *coefficientCache) add(a axis) *coefficients {
	if x.entries == nil {
		x.entries = make(map[axis]*coefficients, maxCachedAxes)
	}
	c := new(coefficients)
	if len(x.order) == maxCachedAxes {
		c = x.evict()
	}
	c.compute(a)
	size := c.bytes()
	if size > maxCacheBytes/2 {
		return c // for one image, then garbage-collected
	}
	for x.bytes+size > maxCacheBytes {
		x.evict()
	}
	x.insert(a)
	x.entries[a] = c
	x.bytes += size
	return c
}

// insert makes a the axis that is evicted last.
func (x *coefficientCache) insert(a axis) {
	x.order = slices.Insert(x.order, x.oldest, a)
	x.oldest = (x.oldest + 1) % len(x.order)
}

// evict removes the oldest entry that is not in use and returns its memory.
func (x *coefficientCache) evict() *coefficients {
	if x.entries[x.order[x.oldest]] == x.inUse && len(x.order) > 1 {
		x.oldest = (x.oldest + 1) % len(x.order)
	}
	a := x.order[x.oldest]
	c := x.entries[a]
	delete(x.entries, a)
	x.order = slices.Delete(x.order, x.oldest, x.oldest+1)
	if x.oldest == len(x.order) {
		x.oldest = 0
	}
	x.bytes -= c.bytes()
	return c
}
