//go:build cgo

package resample

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// tensorCase is one resize to a target.
type tensorCase struct {
	resizeCase
	area     pixel.Area // of the crop; zero is all of it
	region   pixel.Rect // of the result; zero is all of it
	channels int
	filter   pixel.Filter
	dtype    formats.DType
	layout   pixel.Layout
	flip     bool
	flipV    bool
}

func (c tensorCase) String() string {
	return fmt.Sprintf("%s, area %v, region %v, %d channels, %s to %s %s, flip %v %v",
		c.resizeCase, c.area, c.region, c.channels, c.filter, c.dtype, c.layout, c.flip, c.flipV)
}

// scaling fills in what is zero.
func (c tensorCase) scaling(src *pixel.Image) (scaling, pixel.Rect) {
	s := cropped(src, c.crop, c.toW, c.toH, c.filter)
	if c.area != (pixel.Area{}) {
		s.area = c.area
	}
	if c.region != (pixel.Rect{}) {
		s.region = c.region
	}
	return s, s.region
}

var (
	testMean = []float32{0.485, 0.456, 0.406, 0.5}
	testStd  = []float32{0.229, 0.224, 0.225, 0.25}
)

func testSpec(t testing.TB, c int, d formats.DType, l pixel.Layout) *TensorSpec {
	t.Helper()
	mean, std := testMean[:c], testStd[:c]
	if d == formats.Uint8 {
		mean, std = nil, nil
	}
	s, err := NewTensorSpec(c, d, l, mean, std)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// guarded is a target with elements around it that must not change.
type guarded struct {
	Target
	bytes  []uint8
	floats []float32
	halves []uint16
}

const guard = 64

func newGuarded(s *TensorSpec, n int, flip bool, region pixel.Rect) *guarded {
	g := &guarded{Target: Target{Spec: s, Flip: flip, Region: region}}
	switch s.dtype {
	case formats.Uint8:
		g.bytes = slices.Repeat([]uint8{0xA5}, n+2*guard)
		g.Uint8 = g.bytes[guard:][:n]
	case formats.Float32:
		g.floats = slices.Repeat([]float32{-77}, n+2*guard)
		g.Float32 = g.floats[guard:][:n]
	default:
		g.halves = slices.Repeat([]uint16{0xA5A5}, n+2*guard)
		g.Half = g.halves[guard:][:n]
	}
	return g
}

func (g *guarded) equal(other *guarded) bool {
	return slices.Equal(g.bytes, other.bytes) && slices.Equal(g.floats, other.floats) && slices.Equal(g.halves, other.halves)
}

// compareKernels checks that the C kernels of all levels equal the pure-Go version, and write nothing else.
func compareKernels(t *testing.T, src *pixel.Image, c tensorCase) {
	t.Helper()
	s, region := c.scaling(src)
	store := testSpec(t, c.channels, c.dtype, c.layout)
	run := func(do resampler8, src *pixel.Image) *guarded {
		var r Resampler
		g := newGuarded(store, region.W*region.H*c.channels, c.flip, region)
		g.FlipV = c.flipV
		hor, ver := r.coefficients(s, formats.Uint8)
		do(&r, &resampling{ViewOf(src).Crop(s.crop), hor, ver, s.verticalFirst(), g.Target})
		return g
	}
	want := run(resampleGo, src)
	for name, do := range resampleKernels {
		// Reads past the pixels would be found by AddressSanitizer.
		got := run(do, &pixel.Image{Pix: slices.Clip(bytes.Clone(src.Pix)), H: src.H, W: src.W, C: src.C, DType: src.DType})
		if !got.equal(want) {
			t.Errorf("%s: %s: elements differ from pure Go's", name, c)
		}
	}
}

var tensorTypes = []formats.DType{formats.Uint8, formats.Float32, formats.Float16, formats.BFloat16}

func TestResizeEqualsPureGo(t *testing.T) {
	for _, size := range resizeCases {
		for channels := 1; channels <= 4; channels++ {
			src := pixeltest.TestImage(size.w, size.h, channels, formats.Uint8)
			for _, f := range filters[1:] {
				compareKernels(t, src, tensorCase{
					resizeCase: size, channels: channels, filter: f, dtype: formats.Uint8, layout: pixel.NHWC,
				})
			}
		}
	}
}

// Every type and layout is written with every order of passes, and without passes.
func TestStoreEqualsPureGo(t *testing.T) {
	for _, size := range []resizeCase{
		{1, 1, pixel.Rect{}, 1, 1},
		{33, 17, pixel.Rect{}, 33, 17},
		{33, 17, pixel.Rect{X: 2, Y: 3, W: 30, H: 12}, 30, 12},
		{20, 40, pixel.Rect{}, 15, 40},
		{20, 40, pixel.Rect{}, 20, 25},
		{33, 90, pixel.Rect{X: 1, Y: 0, W: 31, H: 90}, 50, 30},
		{90, 70, pixel.Rect{X: 3, Y: 2, W: 85, H: 61}, 47, 39},
	} {
		for channels := 1; channels <= 4; channels++ {
			src := pixeltest.TestImage(size.w, size.h, channels, formats.Uint8)
			for i := range 2 * 2 * 2 * 2 * len(tensorTypes) {
				c := tensorCase{resizeCase: size, channels: channels, filter: pixel.Bicubic, dtype: tensorTypes[i/16], layout: pixel.NHWC}
				c.flip = i&1 == 1
				c.flipV = i&8 != 0
				if i&2 != 0 {
					c.layout = pixel.NCHW
				}
				if i&4 != 0 {
					c.region = pixel.Rect{X: c.toW / 3, Y: c.toH / 4, W: (c.toW + 1) / 2, H: (c.toH + 1) / 2}
				}
				compareKernels(t, src, c)
			}
		}
	}
}

func FuzzResizeEqualsPureGo(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		c := randomTensorCase(rand.New(rand.NewPCG(seed, 5)))
		compareKernels(t, pixeltest.TestImage(c.w, c.h, c.channels, formats.Uint8), c)
	})
}

// randomTensorCase sometimes has an area, a region and a flip.
func randomTensorCase(rng *rand.Rand) tensorCase {
	c := tensorCase{
		resizeCase: randomCase(rng), channels: 1 + rng.IntN(4), filter: filters[1+rng.IntN(len(filters)-1)],
		dtype: tensorTypes[rng.IntN(len(tensorTypes))], layout: pixel.NHWC, flip: rng.IntN(2) == 0, flipV: rng.IntN(2) == 0,
	}
	if rng.IntN(2) == 0 {
		c.layout = pixel.NCHW
	}
	if rng.IntN(2) == 0 {
		c.region.X, c.region.Y = rng.IntN(c.toW), rng.IntN(c.toH)
		c.region.W, c.region.H = 1+rng.IntN(c.toW-c.region.X), 1+rng.IntN(c.toH-c.region.Y)
	}
	if rng.IntN(3) == 0 {
		w, h := c.w, c.h
		if c.crop != (pixel.Rect{}) {
			w, h = c.crop.W, c.crop.H
		}
		c.area = randomArea(rng, w, h)
	}
	return c
}

// randomArea has edges that float32 can represent.
func randomArea(rng *rand.Rand, w, h int) pixel.Area {
	edges := func(n int) (float64, float64) {
		steps := 16 * n
		a := rng.IntN(steps)
		return float64(a) / 16, float64(a+1+rng.IntN(steps-a)) / 16
	}
	var a pixel.Area
	a.X0, a.X1 = edges(w)
	a.Y0, a.Y1 = edges(h)
	return a
}
