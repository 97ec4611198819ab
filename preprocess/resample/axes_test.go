package resample

import (
	"bytes"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/preprocess/pixeltest"
)

// Coefficients are kept by their bytes: those of 40 wide images are not kept all at once.
func TestAxesAreBoundedByBytes(t *testing.T) {
	var x axes
	for i := range 40 {
		in := 200_000 + i
		a := axis{in: in, to: float32(in), out: 256, filter: Bilinear, dtype: formats.Uint8}
		got := x.get(a)
		var fresh coefficients
		fresh.set(a)
		if got.taps != fresh.taps || got.fixed(255, 7) != fresh.fixed(255, 7) {
			t.Fatalf("axis %d: other weights than fresh ones", i)
		}
		held := 0
		for _, c := range x.known {
			held += c.bytes()
		}
		if held > maxAxesBytes || held != x.bytes || len(x.order) != len(x.known) {
			t.Fatalf("%d axes hold %d bytes, counted as %d, the limit is %d", len(x.known), held, x.bytes, maxAxesBytes)
		}
	}
	if len(x.known) < 2 {
		t.Errorf("%d axes are kept", len(x.known))
	}
	wide := x.get(axis{in: 5_000_000, to: 5_000_000, out: 64, filter: Lanczos, dtype: formats.Uint8})
	if _, kept := x.known[axis{in: 5_000_000, to: 5_000_000, out: 64, filter: Lanczos, dtype: formats.Uint8}]; kept || wide.n != 64 {
		t.Error("an axis larger than the cache is kept")
	}
}

// A part of what a resize makes is that part of all of it, for every filter and type.
func TestResizePart(t *testing.T) {
	for _, d := range []formats.DType{formats.Uint8, formats.Uint16} {
		for c := 1; c <= 4; c++ {
			for _, f := range filters {
				checkResizePart(t, pixeltest.TestImage(31, 23, c, d), 47, 40, pixel.Rect{X: 5, Y: 9, W: 20, H: 13}, f)
				checkResizePart(t, pixeltest.TestImage(31, 23, c, d), 12, 60, pixel.Rect{X: 11, Y: 0, W: 1, H: 60}, f)
				checkResizePart(t, pixeltest.TestImage(300, 2, c, d), 9000, 2, pixel.Rect{X: 4400, W: 50, H: 2}, f)
				checkResizePart(t, pixeltest.TestImage(2, 300, c, d), 5, 9001, pixel.Rect{X: 1, Y: 8990, W: 3, H: 11}, f)
			}
		}
	}
}

func checkResizePart(t *testing.T, src *pixel.Image, w, h int, part pixel.Rect, f Filter) {
	t.Helper()
	var r Resampler
	var all, want, got pixel.Image
	if err := r.Resize(&all, src, pixel.Rect{}, w, h, f); err != nil {
		t.Fatal(err)
	}
	all.Crop(&want, part)
	if err := r.ResizePart(&got, src, pixel.Rect{}, pixel.Area{}, w, h, part, f); err != nil {
		t.Fatal(err)
	}
	if got.W != want.W || got.H != want.H || !bytes.Equal(got.Pix, want.Pix) {
		t.Errorf("%dx%dx%d %s to %dx%d by %s: other pixels in %+v", src.W, src.H, src.C, src.DType, w, h, f, part)
	}
}

func FuzzResizePart(f *testing.F) {
	f.Add(uint16(31), uint16(23), uint16(47), uint16(40), uint16(5), uint16(9), uint16(20), uint16(13), uint8(3))
	f.Add(uint16(300), uint16(2), uint16(9000), uint16(2), uint16(4400), uint16(0), uint16(50), uint16(1), uint8(33))
	f.Fuzz(func(t *testing.T, w, h, toW, toH, x, y, partW, partH uint16, kind uint8) {
		side := func(v uint16, most int) int { return int(v)%most + 1 }
		out := pixel.Rect{W: side(toW, 12000), H: side(toH, 80)}
		part := pixel.Rect{X: int(x) % out.W, Y: int(y) % out.H}
		part.W, part.H = side(partW, out.W-part.X), side(partH, out.H-part.Y)
		d := formats.Uint8
		if kind&1 == 1 {
			d = formats.Uint16
		}
		src := pixeltest.TestImage(side(w, 400), side(h, 90), int(kind>>1&3)+1, d)
		checkResizePart(t, src, out.W, out.H, part, filters[int(kind>>3)%len(filters)])
	})
}

// Coefficients that are too large to be cached do not stay once large buffers are dropped.
func TestShrinkDropsCoefficients(t *testing.T) {
	var r Resampler
	var dst pixel.Image
	if err := r.Resize(&dst, pixeltest.TestImage(5_000_000, 1, 1, formats.Uint8), pixel.Rect{}, 256, 1, Bilinear); err != nil {
		t.Fatal(err)
	}
	r.Shrink()
	if c := r.axes.last; c != nil && c.bytes() > pixel.KeptBuffer {
		t.Errorf("%d bytes stay", c.bytes())
	}
	for _, c := range r.axes.known {
		if c.bytes() > maxAxesBytes {
			t.Errorf("%d bytes are cached", c.bytes())
		}
	}
}
