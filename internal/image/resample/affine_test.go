//go:build cgo

package resample

import (
	"math"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

func TestTransformErrors(t *testing.T) {
	src := pixeltest.TestImage(10, 8, 3, formats.Uint8)
	plain := Affine{Matrix: [6]float64{1, 0, 0, 0, 1, 0}, Filter: pixel.Nearest}
	nan, filter, fill := plain, plain, plain
	nan.Matrix[2] = math.NaN()
	filter.Filter = pixel.Lanczos
	fill.Fill = []float64{1, 2}
	var r Resampler
	var dst pixel.Image
	for name, err := range map[string]error{
		"not a number": r.Transform(&dst, src, pixel.Rect{}, &nan, 4, 4),
		"lanczos":      r.Transform(&dst, src, pixel.Rect{}, &filter, 4, 4),
		"two values":   r.Transform(&dst, src, pixel.Rect{}, &fill, 4, 4),
		"no size":      r.Transform(&dst, src, pixel.Rect{}, &plain, 0, 4),
		"crop outside": r.Transform(&dst, src, pixel.Rect{X: 8, Y: 0, W: 3, H: 1}, &plain, 4, 4),
		"no pixels":    r.Transform(&dst, &pixel.Image{H: 1, W: 1, C: 3, DType: formats.Uint8}, pixel.Rect{}, &plain, 4, 4),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Moving by whole pixels is a shift of the crop, for every filter and type.
func TestTransformShifts(t *testing.T) {
	crop := pixel.Rect{X: 2, Y: 1, W: 7, H: 6}
	for _, f := range []pixel.Filter{pixel.Nearest, pixel.Bilinear, pixel.Bicubic} {
		for _, d := range []formats.DType{formats.Uint8, formats.Uint16} {
			src := pixeltest.TestImage(10, 8, 3, d)
			var r Resampler
			var got, part, want pixel.Image
			a := Affine{Matrix: [6]float64{1, 0, 2, 0, 1, -1}, Filter: f, Fill: []float64{9, 300.7, -4}}
			if err := r.Transform(&got, src, crop, &a, 9, 9); err != nil {
				t.Fatal(err)
			}
			src.Crop(&part, crop)
			want.Reset(9, 9, 3, d)
			want.Fill(a.Fill)
			n := part.PixelSize()
			for y := range crop.H {
				copy(want.Pix[(y+1)*want.Stride():], part.Pix[y*part.Stride()+2*n:(y+1)*part.Stride()])
			}
			if !slices.Equal(got.Pix, want.Pix) {
				t.Errorf("%s of %s: pixels differ", f, d)
			}
		}
	}
}

// FuzzTransform checks that every pixel comes from the image or is the fill, for any matrix.
func FuzzTransform(f *testing.F) {
	f.Add(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, uint8(0))
	f.Add(0.5, 0.1, 3.0, -0.1, 0.5, 1e9, uint8(1))
	f.Add(65535.0, 1e-9, -32767.0, 1.0, 1e300, -1e300, uint8(0))
	f.Add(-2.5, 7.0, 30.0, 0.3, -1.0, 9.0, uint8(2))
	f.Fuzz(func(t *testing.T, a, b, c, d, e, g float64, kind uint8) {
		filters := []pixel.Filter{pixel.Nearest, pixel.Bilinear, pixel.Bicubic}
		m := Affine{Matrix: [6]float64{a, b, c, d, e, g}, Filter: filters[kind%3], Fill: []float64{200}}
		if m.Check(3) != nil {
			return
		}
		for _, d := range []formats.DType{formats.Uint8, formats.Uint16} {
			var src, dst pixel.Image
			src.Reset(5, 7, 3, d)
			src.Fill([]float64{77})
			var r Resampler
			if err := r.Transform(&dst, &src, pixel.Rect{X: 1, Y: 1, W: 5, H: 4}, &m, 9, 6); err != nil {
				t.Fatal(err)
			}
			for i := 0; i < len(dst.Pix); i += d.Size() {
				if v := dst.Pix[i]; v != 77 && v != 200 {
					t.Fatalf("%+v: byte %d of %s is %d", m, i, d, v)
				}
			}
		}
	})
}
