package preprocess

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// Resizing a fractional area equals Pillow's resize with a box, for all combinations of passes.
func TestResizeAreaEqualsPillow(t *testing.T) {
	p := startPillow(t)
	var r Resampler
	rng := rand.New(rand.NewPCG(17, 0))
	for i := range 200 {
		c, mode := randomCase(rng), modes[i%len(modes)]
		src := testImage(c.w, c.h, mode.c, mode.dtype)
		area := randomArea(rng, c.w, c.h)
		if i%4 == 0 {
			area.X0, area.X1 = 0, float64(c.w)
		}
		if i%5 == 0 {
			area.Y0, area.Y1 = 0, float64(c.h)
		}
		for _, f := range filters {
			want := p.ask(ask{
				"op": "resize", "mode": mode.mode, "pixels": src.Pix, "size": []int{c.w, c.h},
				"to": []int{c.toW, c.toH}, "filter": f, "box": []float64{area.X0, area.Y0, area.X1, area.Y1},
			})
			if want.Error != "" {
				t.Fatal(want.Error)
			}
			var dst Image
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
	src := testImage(10, 8, 3, formats.Uint8)
	var r Resampler
	var dst Image
	for _, a := range []Area{{}, {0, 0, 10.5, 8}, {-1, 0, 4, 4}, {3, 3, 3, 5}, {5, 5, 2, 6}} {
		if err := r.ResizeArea(&dst, src, a, 4, 4, Bilinear); err == nil {
			t.Errorf("%+v: no error", a)
		}
	}
}
