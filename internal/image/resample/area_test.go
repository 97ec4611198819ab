//go:build cgo

package resample

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Resizing a fractional area equals Pillow's resize with a box, for all combinations of passes.
func TestResizeAreaEqualsPillow(t *testing.T) {
	p := pixeltest.StartPillow(t)
	var r Resampler
	rng := rand.New(rand.NewPCG(17, 0))
	for i := range 200 {
		c, mode := randomCase(rng), modes[i%len(modes)]
		src := pixeltest.TestImage(c.w, c.h, mode.c, mode.dtype)
		area := randomArea(rng, c.w, c.h)
		if i%4 == 0 {
			area.X0, area.X1 = 0, float64(c.w)
		}
		if i%5 == 0 {
			area.Y0, area.Y1 = 0, float64(c.h)
		}
		for _, f := range filters {
			want := p.Ask(pixeltest.Ask{
				"op": "resize", "mode": mode.mode, "pixels": src.Pix, "size": []int{c.w, c.h},
				"to": []int{c.toW, c.toH}, "filter": f, "box": []float64{area.X0, area.Y0, area.X1, area.Y1},
			})
			if want.Error != "" {
				t.Fatal(want.Error)
			}
			var dst pixel.Image
			if err := r.ResizeArea(&dst, src, area, c.toW, c.toH, f); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(dst.Pix, want.Pixels) {
				t.Errorf("%s %dx%d %+v to %dx%d %s: pixels differ from Pillow's", mode.mode, c.w, c.h, area, c.toW, c.toH, f)
			}
		}
	}
}

func TestResizeAreaErrors(t *testing.T) {
	src := pixeltest.TestImage(10, 8, 3, formats.Uint8)
	var r Resampler
	var dst pixel.Image
	for _, a := range []pixel.Area{{}, {X0: 0, Y0: 0, X1: 10.5, Y1: 8}, {X0: -1, Y0: 0, X1: 4, Y1: 4}, {X0: 3, Y0: 3, X1: 3, Y1: 5}, {X0: 5, Y0: 5, X1: 2, Y1: 6}} {
		if err := r.ResizeArea(&dst, src, a, 4, 4, pixel.Bilinear); err == nil {
			t.Errorf("%+v: no error", a)
		}
	}
}
