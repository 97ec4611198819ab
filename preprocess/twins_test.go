package preprocess

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// storeCase is what of a source becomes what of a target.
type storeCase struct {
	resizeCase
	area     Area // of the crop; zero is all of it
	part     Rect // of the result; zero is all of it
	channels int
	filter   Filter
	dtype    formats.DType
	layout   Layout
	flip     bool
	flipV    bool
}

func (c storeCase) String() string {
	return fmt.Sprintf("%s, area %v, part %v, %d channels, %s to %s %s, flip %v %v",
		c.resizeCase, c.area, c.part, c.channels, c.filter, c.dtype, c.layout, c.flip, c.flipV)
}

// scaling fills in what is zero.
func (c storeCase) scaling(src *Image) (scaling, Rect) {
	s := cropped(src, c.crop, c.toW, c.toH, c.filter)
	if c.area != (Area{}) {
		s.area = c.area
	}
	if c.part != (Rect{}) {
		s.region = c.part
	}
	return s, s.region
}

var (
	testMean = []float32{0.485, 0.456, 0.406, 0.5}
	testStd  = []float32{0.229, 0.224, 0.225, 0.25}
)

func testStore(t testing.TB, c int, d formats.DType, l Layout) *TensorSpec {
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

// guarded is a target with elements around it that must stay as they are.
type guarded struct {
	Target
	bytes  []uint8
	floats []float32
	halves []uint16
}

const guard = 64

func newGuarded(s *TensorSpec, n int, flip bool, part Rect) *guarded {
	g := &guarded{Target: Target{Spec: s, Flip: flip, Region: part}}
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

// The C kernels of all levels equal the Go reference, and write nothing else.
func checkTwins(t *testing.T, src *Image, c storeCase) {
	t.Helper()
	s, part := c.scaling(src)
	store := testStore(t, c.channels, c.dtype, c.layout)
	run := func(do resampler8, src *Image) *guarded {
		var r Resampler
		g := newGuarded(store, part.W*part.H*c.channels, c.flip, part)
		g.FlipV = c.flipV
		hor, ver := r.coefficients(s, formats.Uint8)
		do(&r, &resampling{src.view().crop(s.crop), hor, ver, s.verticalFirst(), g.Target})
		return g
	}
	want := run(resampleGo, src)
	for name, do := range twins {
		// Nothing after the pixels is read: that would be found by AddressSanitizer.
		got := run(do, &Image{Pix: slices.Clip(bytes.Clone(src.Pix)), H: src.H, W: src.W, C: src.C, DType: src.DType})
		if !got.equal(want) {
			t.Errorf("%s: %s: other elements than the reference's", name, c)
		}
	}
}

var storeTypes = []formats.DType{formats.Uint8, formats.Float32, formats.Float16, formats.BFloat16}

func TestResizeTwins(t *testing.T) {
	for _, size := range resizeCases {
		for channels := 1; channels <= 4; channels++ {
			src := testImage(size.w, size.h, channels, formats.Uint8)
			for _, f := range filters[1:] {
				checkTwins(t, src, storeCase{
					resizeCase: size, channels: channels, filter: f, dtype: formats.Uint8, layout: NHWC,
				})
			}
		}
	}
}

// Every way to store is used with every order of passes, and with none.
func TestStoreTwins(t *testing.T) {
	for _, size := range []resizeCase{
		{1, 1, Rect{}, 1, 1},
		{33, 17, Rect{}, 33, 17},
		{33, 17, Rect{2, 3, 30, 12}, 30, 12},
		{20, 40, Rect{}, 15, 40},
		{20, 40, Rect{}, 20, 25},
		{33, 90, Rect{1, 0, 31, 90}, 50, 30},
		{90, 70, Rect{3, 2, 85, 61}, 47, 39},
	} {
		for channels := 1; channels <= 4; channels++ {
			src := testImage(size.w, size.h, channels, formats.Uint8)
			for i := range 2 * 2 * 2 * 2 * len(storeTypes) {
				c := storeCase{resizeCase: size, channels: channels, filter: Bicubic, dtype: storeTypes[i/16], layout: NHWC}
				c.flip = i&1 == 1
				c.flipV = i&8 != 0
				if i&2 != 0 {
					c.layout = NCHW
				}
				if i&4 != 0 {
					c.part = Rect{c.toW / 3, c.toH / 4, (c.toW + 1) / 2, (c.toH + 1) / 2}
				}
				checkTwins(t, src, c)
			}
		}
	}
}

func FuzzResizeTwins(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		c := randomStore(rand.New(rand.NewPCG(seed, 5)))
		checkTwins(t, testImage(c.w, c.h, c.channels, formats.Uint8), c)
	})
}

// randomStore has an area, a part and a flip now and then.
func randomStore(rng *rand.Rand) storeCase {
	c := storeCase{
		resizeCase: randomCase(rng), channels: 1 + rng.IntN(4), filter: filters[1+rng.IntN(len(filters)-1)],
		dtype: storeTypes[rng.IntN(len(storeTypes))], layout: NHWC, flip: rng.IntN(2) == 0, flipV: rng.IntN(2) == 0,
	}
	if rng.IntN(2) == 0 {
		c.layout = NCHW
	}
	if rng.IntN(2) == 0 {
		c.part.X, c.part.Y = rng.IntN(c.toW), rng.IntN(c.toH)
		c.part.W, c.part.H = 1+rng.IntN(c.toW-c.part.X), 1+rng.IntN(c.toH-c.part.Y)
	}
	if rng.IntN(3) == 0 {
		w, h := c.w, c.h
		if c.crop != (Rect{}) {
			w, h = c.crop.W, c.crop.H
		}
		c.area = randomArea(rng, w, h)
	}
	return c
}

// randomArea has edges that float32 can tell.
func randomArea(rng *rand.Rand, w, h int) Area {
	edges := func(n int) (float64, float64) {
		steps := 16 * n
		a := rng.IntN(steps)
		return float64(a) / 16, float64(a+1+rng.IntN(steps-a)) / 16
	}
	var a Area
	a.X0, a.X1 = edges(w)
	a.Y0, a.Y1 = edges(h)
	return a
}
