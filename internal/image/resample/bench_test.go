//go:build cgo

package resample

import (
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// benchResizes are sizes typical of training and of packing.
var benchResizes = []struct {
	name     string
	w, h     int
	crop     pixel.Rect
	toW, toH int
	f        pixel.Filter
}{
	{"350x260-224x224", 500, 375, pixel.Rect{X: 40, Y: 50, W: 350, H: 260}, 224, 224, pixel.Bilinear},
	{"500x375-341x256", 500, 375, pixel.Rect{}, 341, 256, pixel.Bilinear},
	{"500x375-224x224", 500, 375, pixel.Rect{}, 224, 224, pixel.Bilinear},
	{"225x375-224x224", 500, 375, pixel.Rect{X: 100, Y: 0, W: 225, H: 375}, 224, 224, pixel.Bilinear},
	{"1024x768-256x192", 1024, 768, pixel.Rect{}, 256, 192, pixel.Bilinear},
	{"3000x2000-384x256", 3000, 2000, pixel.Rect{}, 384, 256, pixel.Bilinear},
	{"350x260-224x224-bicubic", 500, 375, pixel.Rect{X: 40, Y: 50, W: 350, H: 260}, 224, 224, pixel.Bicubic},
}

func BenchmarkResize(b *testing.B) {
	for _, c := range benchResizes {
		b.Run(c.name, func(b *testing.B) {
			src := pixeltest.TestImage(c.w, c.h, 3, formats.Uint8)
			var r Resampler
			var dst pixel.Image
			for b.Loop() {
				if err := r.Resize(&dst, src, c.crop, c.toW, c.toH, c.f); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkNewCoefficients measures sizes that are not in the cache.
func BenchmarkNewCoefficients(b *testing.B) {
	b.ReportAllocs()
	var c coefficients
	for b.Loop() {
		c.compute(axis{in: 300, to: 300, out: 224, filter: pixel.Bilinear, dtype: formats.Uint8})
	}
}
