package augment

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// affineMatrices has maps of each kind that Pillow treats in its own way.
func affineMatrices() [][6]float64 {
	m := [][6]float64{
		{1, 0, 0, 0, 1, 0},
		{1, 0, 7, 0, 1, -3},
		{1, 0, 0.5, 0, 1, -0.5},
		{0.7, 0, 3.3, 0, 1.4, -2},
		{-1, 0, 61, 0, 1, 0},
		{1, 0.2, -5, 0, 1, 0},
		{1, 0, 0, -0.3, 1, 4},
		{0, 1, 0, -1, 0, 48},
		{900, 1, -20000, 3, 1000, -20000}, // beyond 16.16 fixed point
		{2, 1e-7, -1e6, 0, 1, 0},
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 12 {
		s, c := math.Sincos(r.Float64() * 2 * math.Pi)
		scale := math.Exp(r.Float64() - 0.5)
		m = append(m, [6]float64{c * scale, s * scale, r.Float64() * 40, -s * scale, c * scale, r.Float64() * 40})
	}
	return m
}

func BenchmarkAffine(b *testing.B) {
	m := smooth(224, 224, 3)
	s, c := math.Sincos(0.4)
	for _, f := range []pixel.Filter{pixel.Nearest, pixel.Bilinear, pixel.Bicubic} {
		b.Run(string(f), func(b *testing.B) {
			a := resample.Affine{Matrix: [6]float64{c, s, -30, -s, c, 50}, Filter: f}
			var r resample.Resampler
			var out pixel.Image
			for b.Loop() {
				if err := r.Transform(&out, m, pixel.Rect{}, &a, m.W, m.H); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
