package preprocess

import (
	"math"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

func TestTransformErrors(t *testing.T) {
	src := testImage(10, 8, 3, formats.Uint8)
	plain := Affine{Matrix: [6]float64{1, 0, 0, 0, 1, 0}, Filter: Nearest}
	nan, filter, fill := plain, plain, plain
	nan.Matrix[2] = math.NaN()
	filter.Filter = Lanczos
	fill.Fill = []float64{1, 2}
	var r Resampler
	var dst Image
	for name, err := range map[string]error{
		"not a number": r.Transform(&dst, src, Rect{}, &nan, 4, 4),
		"lanczos":      r.Transform(&dst, src, Rect{}, &filter, 4, 4),
		"two values":   r.Transform(&dst, src, Rect{}, &fill, 4, 4),
		"no size":      r.Transform(&dst, src, Rect{}, &plain, 0, 4),
		"crop outside": r.Transform(&dst, src, Rect{8, 0, 3, 1}, &plain, 4, 4),
		"no pixels":    r.Transform(&dst, &Image{H: 1, W: 1, C: 3, DType: formats.Uint8}, Rect{}, &plain, 4, 4),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Moving by whole pixels is a shift of the crop, for every filter and type.
func TestTransformShifts(t *testing.T) {
	crop := Rect{2, 1, 7, 6}
	for _, f := range []Filter{Nearest, Bilinear, Bicubic} {
		for _, d := range []formats.DType{formats.Uint8, formats.Uint16} {
			src := testImage(10, 8, 3, d)
			var r Resampler
			var got, part, want Image
			a := Affine{Matrix: [6]float64{1, 0, 2, 0, 1, -1}, Filter: f, Fill: []float64{9, 300.7, -4}}
			if err := r.Transform(&got, src, crop, &a, 9, 9); err != nil {
				t.Fatal(err)
			}
			src.crop(&part, crop)
			want.Reset(9, 9, 3, d)
			want.Fill(a.Fill)
			n := part.pixelSize()
			for y := range crop.H {
				copy(want.Pix[(y+1)*want.stride():], part.Pix[y*part.stride()+2*n:(y+1)*part.stride()])
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
		filters := []Filter{Nearest, Bilinear, Bicubic}
		m := Affine{Matrix: [6]float64{a, b, c, d, e, g}, Filter: filters[kind%3], Fill: []float64{200}}
		if m.Check(3) != nil {
			return
		}
		for _, d := range []formats.DType{formats.Uint8, formats.Uint16} {
			var src, dst Image
			src.Reset(5, 7, 3, d)
			src.Fill([]float64{77})
			var r Resampler
			if err := r.Transform(&dst, &src, Rect{1, 1, 5, 4}, &m, 9, 6); err != nil {
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
