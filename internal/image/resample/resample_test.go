//go:build cgo

package resample

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

var filters = []pixel.Filter{pixel.Nearest, pixel.Box, pixel.Bilinear, pixel.Hamming, pixel.Bicubic, pixel.Lanczos}

// modes are Pillow's names of our channels and types.
var modes = []struct {
	mode  string
	c     int
	dtype formats.DType
}{
	{"L", 1, formats.Uint8},
	{"LA", 2, formats.Uint8},
	{"RGB", 3, formats.Uint8},
	{"RGBA", 4, formats.Uint8},
	{"I;16", 1, formats.Uint16},
}

type resizeCase struct {
	w, h     int
	crop     pixel.Rect
	toW, toH int
}

var resizeCases = []resizeCase{
	{1, 1, pixel.Rect{}, 1, 1},
	{1, 1, pixel.Rect{}, 5, 3},
	{2, 3, pixel.Rect{}, 1, 1},
	{7, 5, pixel.Rect{}, 3, 4},
	{4, 1, pixel.Rect{}, 7, 1},
	{1, 9, pixel.Rect{}, 1, 4},
	{33, 17, pixel.Rect{}, 33, 9},
	{33, 17, pixel.Rect{}, 16, 17},
	{33, 17, pixel.Rect{}, 100, 60},
	{33, 17, pixel.Rect{X: 3, Y: 2, W: 20, H: 11}, 9, 31},
	{64, 64, pixel.Rect{X: 63, Y: 63, W: 1, H: 1}, 4, 4},
	{64, 48, pixel.Rect{X: 10, Y: 0, W: 54, H: 48}, 32, 32},
	{33, 90, pixel.Rect{}, 20, 30},
	{33, 90, pixel.Rect{X: 1, Y: 2, W: 31, H: 86}, 50, 7},
	{300, 200, pixel.Rect{}, 7, 3},
	{300, 200, pixel.Rect{}, 224, 224},
	{300, 200, pixel.Rect{X: 17, Y: 9, W: 251, H: 187}, 97, 101},
}

// kind names the passes that the case needs.
func (c resizeCase) kind() string {
	w, h := c.w, c.h
	if c.crop != (pixel.Rect{}) {
		w, h = c.crop.W, c.crop.H
	}
	switch {
	case w == c.toW && h == c.toH:
		return "copy"
	case h == c.toH:
		return "horizontal"
	case w == c.toW:
		return "vertical"
	case verticalFirst(w, h, c.toW, c.toH):
		return "vertical first"
	}
	return "horizontal first"
}

func (c resizeCase) String() string {
	return fmt.Sprintf("%dx%d %v to %dx%d", c.w, c.h, c.crop, c.toW, c.toH)
}

func TestResizeEqualsPillow(t *testing.T) {
	p := pixeltest.StartPillow(t)
	var r Resampler
	for _, mode := range modes {
		for _, c := range resizeCases {
			checkPillow(t, p, &r, mode.mode, pixeltest.TestImage(c.w, c.h, mode.c, mode.dtype), c)
		}
	}
}

// Random sizes use both orders of the passes, and single passes.
func TestRandomResizeEqualsPillow(t *testing.T) {
	p := pixeltest.StartPillow(t)
	var r Resampler
	rng := rand.New(rand.NewPCG(13, 0))
	kinds := map[string]int{}
	for i := range 500 {
		c, mode := randomCase(rng), modes[i%len(modes)]
		kinds[c.kind()]++
		checkPillow(t, p, &r, mode.mode, pixeltest.TestImage(c.w, c.h, mode.c, mode.dtype), c)
	}
	for _, kind := range []string{"copy", "horizontal", "vertical", "horizontal first", "vertical first"} {
		if kinds[kind] < 10 {
			t.Errorf("only %d cases are %s", kinds[kind], kind)
		}
	}
}

// randomCase has a crop half of the time and sometimes keeps a side.
func randomCase(rng *rand.Rand) resizeCase {
	side := func() int { return int(math.Exp(rng.Float64() * math.Log(250))) }
	c := resizeCase{w: side(), h: side(), toW: side(), toH: side()}
	from := pixel.Rect{W: c.w, H: c.h}
	if rng.IntN(2) == 0 {
		c.crop.X, c.crop.Y = rng.IntN(c.w), rng.IntN(c.h)
		c.crop.W, c.crop.H = 1+rng.IntN(c.w-c.crop.X), 1+rng.IntN(c.h-c.crop.Y)
		from = c.crop
	}
	if rng.IntN(5) == 0 {
		c.toW = from.W
	}
	if rng.IntN(5) == 0 {
		c.toH = from.H
	}
	return c
}

// checkPillow compares every filter.
func checkPillow(t *testing.T, p *pixeltest.Pillow, r *Resampler, mode string, src *pixel.Image, c resizeCase) {
	t.Helper()
	for _, f := range filters {
		a := pixeltest.Ask{
			"op": "resize", "mode": mode, "pixels": src.Pix, "size": []int{c.w, c.h},
			"to": []int{c.toW, c.toH}, "filter": f,
		}
		if c.crop != (pixel.Rect{}) {
			a["crop"] = []int{c.crop.X, c.crop.Y, c.crop.W, c.crop.H}
		}
		want := p.Ask(a)
		if want.Error != "" {
			t.Fatal(want.Error)
		}
		var dst pixel.Image
		if err := r.Resize(&dst, src, c.crop, c.toW, c.toH, f); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(dst.Pix, want.Pixels) {
			t.Errorf("%s %s %s: pixels differ from Pillow's", mode, c, f)
		}
	}
}

// Two passes equal two resizes of one side each, in Pillow's order; the other order gives different
// pixels.
func TestPassOrder(t *testing.T) {
	for _, c := range []struct {
		w, h, toW, toH int
		vertical       bool
	}{
		{90, 160, 60, 100, false}, // 60 is twice 30
		{90, 161, 60, 100, true},
		{60, 161, 90, 100, true},
		{60, 100, 90, 100 + 61, false},
		{90, 60, 160, 59, true},
	} {
		for _, mode := range modes {
			src := pixeltest.TestImage(c.w, c.h, mode.c, mode.dtype)
			byRows := twice(t, src, c.toW, c.h, c.toW, c.toH)
			byColumns := twice(t, src, c.w, c.toH, c.toW, c.toH)
			want, other := byRows, byColumns
			if c.vertical {
				want, other = other, want
			}
			got := twice(t, src, c.w, c.h, c.toW, c.toH)
			switch alpha := mode.c == 2 || mode.c == 4; {
			case alpha: // is divided out after each resize
			case !bytes.Equal(got.Pix, want.Pix):
				t.Errorf("%s %+v: not in this order", mode.mode, c)
			case bytes.Equal(got.Pix, other.Pix):
				t.Errorf("%s %+v: the order makes no difference", mode.mode, c)
			}
		}
	}
}

// twice resizes m to w by h and then to toW by toH.
func twice(t *testing.T, m *pixel.Image, w, h, toW, toH int) *pixel.Image {
	t.Helper()
	var r Resampler
	var once, done pixel.Image
	if err := r.Resize(&once, m, pixel.Rect{}, w, h, pixel.Bicubic); err != nil {
		t.Fatal(err)
	}
	if err := r.Resize(&done, &once, pixel.Rect{}, toW, toH, pixel.Bicubic); err != nil {
		t.Fatal(err)
	}
	return &done
}

// Pillow has no 16-bit colour: each channel equals that of a grey image.
func TestResize16ByChannel(t *testing.T) {
	var r Resampler
	src := pixeltest.TestImage(31, 23, 3, formats.Uint16)
	var one, got, want pixel.Image
	for _, f := range filters {
		if err := r.Resize(&got, src, pixel.Rect{X: 2, Y: 3, W: 25, H: 20}, 13, 40, f); err != nil {
			t.Fatal(err)
		}
		for c := range 3 {
			one.Reset(23, 31, 1, formats.Uint16)
			for i := range 23 * 31 {
				copy(one.Pix[2*i:2*i+2], src.Pix[2*(3*i+c):])
			}
			if err := r.Resize(&want, &one, pixel.Rect{X: 2, Y: 3, W: 25, H: 20}, 13, 40, f); err != nil {
				t.Fatal(err)
			}
			for i := range 13 * 40 {
				g, w := binary.LittleEndian.Uint16(got.Pix[2*(3*i+c):]), binary.LittleEndian.Uint16(want.Pix[2*i:])
				if g != w {
					t.Fatalf("%s channel %d pixel %d: %d, alone %d", f, c, i, g, w)
				}
			}
		}
	}
}

func TestResizeErrors(t *testing.T) {
	src := pixeltest.TestImage(10, 8, 3, formats.Uint8)
	short := *src
	short.Pix = short.Pix[1:]
	var r Resampler
	var dst pixel.Image
	for _, c := range []struct {
		name string
		src  *pixel.Image
		crop pixel.Rect
		w, h int
		f    pixel.Filter
	}{
		{"crop too wide", src, pixel.Rect{X: 1, Y: 0, W: 10, H: 8}, 4, 4, pixel.Bilinear},
		{"crop before the image", src, pixel.Rect{X: -1, Y: 0, W: 5, H: 5}, 4, 4, pixel.Bilinear},
		{"empty crop", src, pixel.Rect{X: 2, Y: 2, W: 0, H: 3}, 4, 4, pixel.Bilinear},
		{"overflowing crop", src, pixel.Rect{X: math.MaxInt, Y: 0, W: 5, H: 5}, 4, 4, pixel.Bilinear},
		{"no width", src, pixel.Rect{}, 0, 4, pixel.Bilinear},
		{"no such filter", src, pixel.Rect{}, 4, 4, "sharp"},
		{"too few pixels", &short, pixel.Rect{}, 4, 4, pixel.Bilinear},
		{"no image", &pixel.Image{}, pixel.Rect{}, 4, 4, pixel.Bilinear},
	} {
		if err := r.Resize(&dst, c.src, c.crop, c.w, c.h, c.f); err == nil {
			t.Errorf("%s: no error", c.name)
		}
	}
}
