package augment

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/geometry"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/random"
)

// TestStore compares every last pass with the formula, element by element.
func TestStore(t *testing.T) {
	window := pixel.Rect{X: 3, Y: 2, W: 7, H: 5}
	for _, c := range []int{1, 2, 3, 4} {
		norm := Normalize{Mean: []float64{0.485}, Std: []float64{0.229}}
		if c == 3 {
			norm = ImageNet
		}
		for _, layout := range []pixel.Layout{pixel.NHWC, pixel.NCHW} {
			for _, flip := range []bool{false, true} {
				for _, dtype := range []formats.DType{formats.Uint8, formats.Uint16} {
					t.Run(fmt.Sprintf("%d/%s/%v/%s", c, layout, flip, dtype), func(t *testing.T) {
						m := noise(9, 11, c, 3)
						if dtype == formats.Uint16 {
							m = noise(9, 11, 2*c, 3)
							m.C, m.DType = c, dtype
						}
						checkStore(t, geometry.View{Image: m, Window: window, Flips: flips{H: flip}}, layout, norm)
					})
				}
			}
		}
	}
}

func checkStore(t *testing.T, v geometry.View, layout pixel.Layout, norm Normalize) {
	w, h, c := v.Window.W, v.Window.H, v.Image.C
	p, err := Compile([]Op{norm}, h, w, c, formats.Float32, layout)
	if err != nil {
		t.Fatal(err)
	}
	floats := make([]float32, h*w*c)
	var plan Steps
	plan.path.Window, plan.path.Flips = v.Window, v.Flips
	run(t, &plan, v.Image, false, resample.Target{Spec: p.Store(), Float32: floats})
	bytes := make([]uint8, h*w*c)
	if v.Image.DType == formats.Uint8 {
		q, err := Compile(nil, h, w, c, formats.Uint8, layout)
		if err != nil {
			t.Fatal(err)
		}
		run(t, &plan, v.Image, false, resample.Target{Spec: q.Store(), Uint8: bytes})
	}
	for y := range h {
		for x := range w {
			for k := range c {
				at := (y*w+x)*c + k
				if layout == pixel.NCHW {
					at = (k*h+y)*w + x
				}
				sx := x
				if v.Flips.H {
					sx = w - 1 - x
				}
				from := ((v.Window.Y+y)*v.Image.W+v.Window.X+sx)*c + k
				mean, std := float32(norm.Mean[min(k, len(norm.Mean)-1)]), float32(norm.Std[min(k, len(norm.Std)-1)])
				scaled := float32(0)
				if v.Image.DType == formats.Uint16 {
					scaled = float32(binary.LittleEndian.Uint16(v.Image.Pix[2*from:])) / 65535
				} else {
					scaled = float32(v.Image.Pix[from]) / 255
					if bytes[at] != v.Image.Pix[from] {
						t.Fatalf("uint8 at (%d,%d,%d): %d, want %d", y, x, k, bytes[at], v.Image.Pix[from])
					}
				}
				if want := (scaled - mean) / std; floats[at] != want {
					t.Fatalf("float32 at (%d,%d,%d): %v, want %v", y, x, k, floats[at], want)
				}
			}
		}
	}
}

// BenchmarkTrain is what a training image costs from its pixels to the batch.
func BenchmarkTrain(b *testing.B) {
	m := smooth(375, 500, 3)
	p, err := Compile(append(Train(224), ImageNet), 0, 0, 3, formats.Float32, pixel.NCHW)
	if err != nil {
		b.Fatal(err)
	}
	batch := make([]float32, 64*3*224*224)
	var r Runner
	var plan Steps
	for i := 0; b.Loop(); i++ {
		rand := random.NewRand(1, 0, i)
		p.Draw(&plan, m.H, m.W, &rand)
		entry := batch[i%64*3*224*224:][:3*224*224]
		if err := r.Apply(&plan, m, false, resample.Target{Spec: p.Store(), Float32: entry}); err != nil {
			b.Fatal(err)
		}
	}
}
