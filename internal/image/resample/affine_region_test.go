//go:build cgo

package resample

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// randomMapping has a matrix of each kind that Pillow treats in its own way, and a region.
func randomMapping(rng *rand.Rand) *Mapping {
	m := &Mapping{
		Affine: &Affine{Filter: []pixel.Filter{pixel.Nearest, pixel.Bilinear, pixel.Bicubic}[rng.IntN(3)], Fill: []float64{77}},
		ImageH: 1 + rng.IntN(60), ImageW: 1 + rng.IntN(60), H: 1 + rng.IntN(60), W: 1 + rng.IntN(60),
	}
	sin, cos := math.Sincos(rng.Float64() * 2 * math.Pi)
	scale, shift := math.Exp(2*rng.Float64()-1), func() float64 { return 80*rng.Float64() - 20 }
	m.Matrix = [6]float64{scale * cos, scale * sin, shift(), -scale * sin, scale * cos, shift()}
	switch rng.IntN(5) {
	case 0: // no rotation
		m.Matrix[1], m.Matrix[3] = 0, 0
	case 1: // whole pixels
		m.Matrix = [6]float64{1, 0, math.Trunc(shift()), 0, 1, math.Trunc(shift())}
	case 2: // beyond fixed point
		m.Matrix[0] *= 1e4
	}
	m.Region.X, m.Region.Y = rng.IntN(m.W), rng.IntN(m.H)
	m.Region.W, m.Region.H = 1+rng.IntN(m.W-m.Region.X), 1+rng.IntN(m.H-m.Region.Y)
	return m
}

// wholeResult is what the pure-Go version makes of the whole image.
func wholeResult(t *testing.T, src *pixel.Image, m *Mapping) *pixel.Image {
	t.Helper()
	all := *m
	all.Region = pixel.Rect{W: m.W, H: m.H}
	return warped(t, warpGo, src, pixel.Rect{W: src.W, H: src.H}, &all)
}

func warped(t *testing.T, by warper, src *pixel.Image, part pixel.Rect, m *Mapping) *pixel.Image {
	t.Helper()
	defer func(before warper) { warp = before }(warp)
	warp = by
	var r Resampler
	var dst pixel.Image
	if err := r.TransformRegion(&dst, src, part, m); err != nil {
		t.Fatal(err)
	}
	return &dst
}

// A region, computed from the part of the image that it needs alone, has exactly the pixels of the
// whole result, in C of every level and in Go.
func TestWarpEqualsPureGo(t *testing.T) {
	narrower, seeds := 0, uint64(3000)
	if testing.Short() {
		seeds = 600
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 3))
		m := randomMapping(rng)
		channels, dtype := 1+rng.IntN(4), []formats.DType{formats.Uint8, formats.Uint16}[rng.IntN(2)]
		image := pixeltest.TestImage(m.ImageW, m.ImageH, channels, dtype)
		var want, source pixel.Image
		wholeResult(t, image, m).Crop(&want, m.Region)
		at := m.Source()
		if at.W*at.H < image.W*image.H {
			narrower++
		}
		image.Crop(&source, at)
		m.Left, m.Top = at.X, at.Y
		for name, by := range warpKernels {
			// AddressSanitizer would find reads past the pixels.
			own := source
			own.Pix = bytes.Clone(source.Pix)
			if got := warped(t, by, &own, pixel.Rect{W: at.W, H: at.H}, m); !bytes.Equal(got.Pix, want.Pix) {
				t.Fatalf("seed %d, %s: %+v of %d channels of %s by %s differs", seed, name, m, channels, dtype, m.Filter)
			}
		}
		if got := warped(t, warpGo, &source, pixel.Rect{W: at.W, H: at.H}, m); !bytes.Equal(got.Pix, want.Pix) {
			t.Fatalf("seed %d: %+v differs in Go", seed, m)
		}
	}
	if narrower < int(seeds/6) {
		t.Errorf("only %d of the regions need a part of the image", narrower)
	}
}
