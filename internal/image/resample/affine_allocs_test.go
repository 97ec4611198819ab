//go:build cgo && !asan

package resample

import (
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Under AddressSanitizer, what is passed to C is allocated, so that it is watched.
func TestTransformDoesNotAllocate(t *testing.T) {
	src := pixeltest.TestImage(60, 50, 3, formats.Uint8)
	for _, f := range []pixel.Filter{pixel.Nearest, pixel.Bilinear, pixel.Bicubic} {
		var r Resampler
		var dst pixel.Image
		m := Mapping{
			Affine: &Affine{Matrix: [6]float64{0.9, 0, 3, 0, 0.8, 2}, Filter: f}, ImageH: 50, ImageW: 60, H: 40, W: 40,
			Region: pixel.Rect{X: 5, Y: 6, W: 20, H: 10},
		}
		if n := testing.AllocsPerRun(20, func() {
			if err := r.TransformRegion(&dst, src, pixel.Rect{W: 60, H: 50}, &m); err != nil {
				t.Fatal(err)
			}
		}); n > 0 {
			t.Errorf("%s: %v allocations an image", f, n)
		}
	}
}
