package preprocess

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

var filters = []Filter{Nearest, Box, Bilinear, Hamming, Bicubic, Lanczos}

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
	crop     Rect
	toW, toH int
}

var resizeCases = []resizeCase{
	{1, 1, Rect{}, 1, 1},
	{1, 1, Rect{}, 5, 3},
	{2, 3, Rect{}, 1, 1},
	{7, 5, Rect{}, 3, 4},
	{4, 1, Rect{}, 7, 1},
	{1, 9, Rect{}, 1, 4},
	{33, 17, Rect{}, 33, 9},
	{33, 17, Rect{}, 16, 17},
	{33, 17, Rect{}, 100, 60},
	{33, 17, Rect{3, 2, 20, 11}, 9, 31},
	{64, 64, Rect{63, 63, 1, 1}, 4, 4},
	{64, 48, Rect{10, 0, 54, 48}, 32, 32},
	{33, 90, Rect{}, 20, 30},
	{33, 90, Rect{1, 2, 31, 86}, 50, 7},
	{300, 200, Rect{}, 7, 3},
	{300, 200, Rect{}, 224, 224},
	{300, 200, Rect{17, 9, 251, 187}, 97, 101},
}

// kind names the passes that the case needs.
func (c resizeCase) kind() string {
	w, h := c.w, c.h
	if c.crop != (Rect{}) {
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
	p := startPillow(t)
	var r Resampler
	for _, mode := range modes {
		for _, c := range resizeCases {
			checkPillow(t, p, &r, mode.mode, testImage(c.w, c.h, mode.c, mode.dtype), c)
		}
	}
}

// Random sizes use both orders of the passes, and single passes.
func TestRandomResizeEqualsPillow(t *testing.T) {
	p := startPillow(t)
	var r Resampler
	rng := rand.New(rand.NewPCG(13, 0))
	kinds := map[string]int{}
	for i := range 500 {
		c, mode := randomCase(rng), modes[i%len(modes)]
		kinds[c.kind()]++
		checkPillow(t, p, &r, mode.mode, testImage(c.w, c.h, mode.c, mode.dtype), c)
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
	from := Rect{W: c.w, H: c.h}
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
func checkPillow(t *testing.T, p *pillow, r *Resampler, mode string, src *Image, c resizeCase) {
	t.Helper()
	for _, f := range filters {
		a := ask{
			"op": "resize", "mode": mode, "pixels": src.Pix, "size": []int{c.w, c.h},
			"to": []int{c.toW, c.toH}, "filter": f,
		}
		if c.crop != (Rect{}) {
			a["crop"] = []int{c.crop.X, c.crop.Y, c.crop.W, c.crop.H}
		}
		want := p.ask(a)
		if want.Error != "" {
			t.Fatal(want.Error)
		}
		var dst Image
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
			src := testImage(c.w, c.h, mode.c, mode.dtype)
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
func twice(t *testing.T, m *Image, w, h, toW, toH int) *Image {
	t.Helper()
	var r Resampler
	var once, done Image
	if err := r.Resize(&once, m, Rect{}, w, h, Bicubic); err != nil {
		t.Fatal(err)
	}
	if err := r.Resize(&done, &once, Rect{}, toW, toH, Bicubic); err != nil {
		t.Fatal(err)
	}
	return &done
}

// Pillow has no 16-bit colour: each channel equals that of a grey image.
func TestResize16ByChannel(t *testing.T) {
	var r Resampler
	src := testImage(31, 23, 3, formats.Uint16)
	var one, got, want Image
	for _, f := range filters {
		if err := r.Resize(&got, src, Rect{2, 3, 25, 20}, 13, 40, f); err != nil {
			t.Fatal(err)
		}
		for c := range 3 {
			one.Reset(23, 31, 1, formats.Uint16)
			for i := range 23 * 31 {
				copy(one.Pix[2*i:2*i+2], src.Pix[2*(3*i+c):])
			}
			if err := r.Resize(&want, &one, Rect{2, 3, 25, 20}, 13, 40, f); err != nil {
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
	src := testImage(10, 8, 3, formats.Uint8)
	short := *src
	short.Pix = short.Pix[1:]
	var r Resampler
	var dst Image
	for _, c := range []struct {
		name string
		src  *Image
		crop Rect
		w, h int
		f    Filter
	}{
		{"crop too wide", src, Rect{1, 0, 10, 8}, 4, 4, Bilinear},
		{"crop before the image", src, Rect{-1, 0, 5, 5}, 4, 4, Bilinear},
		{"empty crop", src, Rect{2, 2, 0, 3}, 4, 4, Bilinear},
		{"overflowing crop", src, Rect{math.MaxInt, 0, 5, 5}, 4, 4, Bilinear},
		{"no width", src, Rect{}, 0, 4, Bilinear},
		{"no such filter", src, Rect{}, 4, 4, "sharp"},
		{"too few pixels", &short, Rect{}, 4, 4, Bilinear},
		{"no image", &Image{}, Rect{}, 4, 4, Bilinear},
	} {
		if err := r.Resize(&dst, c.src, c.crop, c.w, c.h, c.f); err == nil {
			t.Errorf("%s: no error", c.name)
		}
	}
}
