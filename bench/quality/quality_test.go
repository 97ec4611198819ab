package quality_test

import (
	"math"
	"testing"

	"github.com/dsconv/dsconv/bench/quality"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// grey is an image of h by w with the given values.
func grey(h, w int, at func(x, y int) int) *pixel.Image {
	m := &pixel.Image{}
	m.Reset(h, w, 1, formats.Uint8)
	for y := range h {
		for x := range w {
			m.Pix[y*w+x] = uint8(min(max(at(x, y), 0), 255))
		}
	}
	return m
}

func wave(x, y int) int   { return (x*x + 3*y*y + 2*x*y) / 40 % 256 }
func noisy(x, y int) int  { return wave(x, y) + (x*5+y*3)%11 - 5 }
func darker(x, y int) int { return wave(x, y)/2 + 40 }

// The wanted values were computed by numpy and, as scikit-image does it with Gaussian weights, by scipy 1.17.
func TestEqualsScikitImage(t *testing.T) {
	for _, c := range []struct {
		name       string
		other      func(x, y int) int
		psnr, ssim float64
	}{
		{"noisy", noisy, 38.186291619167214, 0.9502681987464042},
		{"darker", darker, 17.183330591152163, 0.8201626979169759},
	} {
		var d quality.Difference
		if err := d.Add(grey(48, 64, wave), grey(48, 64, c.other)); err != nil {
			t.Fatal(err)
		}
		if math.Abs(d.PSNR()-c.psnr) > 1e-9 || math.Abs(d.SSIM()-c.ssim) > 1e-9 {
			t.Errorf("%s: PSNR %.7f, SSIM %.7f, want %.7f and %.7f", c.name, d.PSNR(), d.SSIM(), c.psnr, c.ssim)
		}
	}
}

// colours is m as RGB, with all channels alike, in the given type.
func colours(m *pixel.Image, dtype formats.DType) *pixel.Image {
	out := &pixel.Image{}
	out.Reset(m.H, m.W, 3, dtype)
	for i := range 3 * m.H * m.W {
		v := m.Pix[i/3]
		if dtype == formats.Uint16 { // v * 257
			out.Pix[2*i], out.Pix[2*i+1] = v, v
			continue
		}
		out.Pix[i] = v
	}
	return out
}

func TestColoursAndDepthAreLikeGrey(t *testing.T) {
	a, b := grey(48, 64, wave), grey(48, 64, noisy)
	var want quality.Difference
	if err := want.Add(a, b); err != nil {
		t.Fatal(err)
	}
	for _, dtype := range []formats.DType{formats.Uint8, formats.Uint16} {
		var d quality.Difference
		if err := d.Add(colours(a, dtype), colours(b, dtype)); err != nil {
			t.Fatal(err)
		}
		if math.Abs(d.PSNR()-want.PSNR()) > 1e-9 || math.Abs(d.SSIM()-want.SSIM()) > 1e-9 {
			t.Errorf("%s: PSNR %v, SSIM %v, want %v and %v", dtype, d.PSNR(), d.SSIM(), want.PSNR(), want.SSIM())
		}
	}
}

func TestManyImages(t *testing.T) {
	var d quality.Difference
	if !math.IsInf(d.PSNR(), 1) || d.SSIM() != 1 {
		t.Errorf("of no images: %v, %v", d.PSNR(), d.SSIM())
	}
	// Sizes change between images, small ones are one window, and equal ones are as near as can be.
	for _, size := range [][2]int{{30, 40}, {3, 5}, {11, 11}, {10, 200}, {1, 1}, {20, 20}} {
		m := grey(size[0], size[1], wave)
		if err := d.Add(m, m); err != nil {
			t.Fatal(err)
		}
		if !math.IsInf(d.PSNR(), 1) || math.Abs(d.SSIM()-1) > 1e-12 {
			t.Errorf("%v: equal images have PSNR %v and SSIM %v", size, d.PSNR(), d.SSIM())
		}
	}
	one := func(int, int) int { return 1 }
	zero := func(int, int) int { return 0 }
	var all quality.Difference // all values differ by 1: 20 log10(255)
	for range 2 {
		if err := all.Add(grey(4, 4, zero), grey(4, 4, one)); err != nil {
			t.Fatal(err)
		}
	}
	if want := 20 * math.Log10(255); math.Abs(all.PSNR()-want) > 1e-9 {
		t.Errorf("PSNR %v, want %v", all.PSNR(), want)
	}
}

func TestRefusesOtherShapes(t *testing.T) {
	m := grey(8, 8, wave)
	for name, other := range map[string]*pixel.Image{
		"size": grey(8, 9, wave), "channels": colours(m, formats.Uint8), "nil": nil, "empty": {},
	} {
		var d quality.Difference
		if d.Add(m, other) == nil || d.Add(other, m) == nil || !math.IsInf(d.PSNR(), 1) || d.SSIM() != 1 {
			t.Errorf("%s: no error", name)
		}
	}
}
