package augment

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess"
)

// TestStore compares every last pass with the formula, element by element.
func TestStore(t *testing.T) {
	window := preprocess.Rect{X: 3, Y: 2, W: 7, H: 5}
	for _, c := range []int{1, 2, 3, 4} {
		norm := Normalize{Mean: []float64{0.485}, Std: []float64{0.229}}
		if c == 3 {
			norm = ImageNet
		}
		for _, layout := range []Layout{NHWC, NCHW} {
			for _, flip := range []bool{false, true} {
				for _, dtype := range []formats.DType{formats.Uint8, formats.Uint16} {
					t.Run(fmt.Sprintf("%d/%s/%v/%s", c, layout, flip, dtype), func(t *testing.T) {
						m := noise(9, 11, c, 3)
						if dtype == formats.Uint16 {
							m = noise(9, 11, 2*c, 3)
							m.C, m.DType = c, dtype
						}
						checkStore(t, View{Image: m, Window: window, Flip: flip}, layout, norm)
					})
				}
			}
		}
	}
}

func checkStore(t *testing.T, v View, layout Layout, norm Normalize) {
	w, h, c := v.Window.W, v.Window.H, v.Image.C
	p, err := Compile([]Op{norm}, h, w, c, formats.Float32, layout)
	if err != nil {
		t.Fatal(err)
	}
	floats := make([]float32, h*w*c)
	p.StoreFloat32(floats, v)
	bytes := make([]uint8, h*w*c)
	if v.Image.DType == formats.Uint8 {
		q, err := Compile(nil, h, w, c, formats.Uint8, layout)
		if err != nil {
			t.Fatal(err)
		}
		q.StoreUint8(bytes, v)
	}
	for y := range h {
		for x := range w {
			for k := range c {
				at := (y*w+x)*c + k
				if layout == NCHW {
					at = (k*h+y)*w + x
				}
				sx := x
				if v.Flip {
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

func BenchmarkStore(b *testing.B) {
	m := noise(224, 224, 3, 1)
	floats, bytes := make([]float32, len(m.Pix)), make([]uint8, len(m.Pix))
	for _, layout := range []Layout{NHWC, NCHW} {
		for _, flip := range []bool{false, true} {
			v := whole(m)
			v.Flip = flip
			f, _ := Compile([]Op{ImageNet}, 224, 224, 3, formats.Float32, layout)
			u, _ := Compile(nil, 224, 224, 3, formats.Uint8, layout)
			b.Run(fmt.Sprintf("float32/%s/flip=%v", layout, flip), func(b *testing.B) {
				for b.Loop() {
					f.StoreFloat32(floats, v)
				}
			})
			b.Run(fmt.Sprintf("uint8/%s/flip=%v", layout, flip), func(b *testing.B) {
				for b.Loop() {
					u.StoreUint8(bytes, v)
				}
			})
		}
	}
}

func BenchmarkAdjust(b *testing.B) {
	m := smooth(224, 224, 3)
	for name, adjust := range adjustments {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := adjust(m, 0.9); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
