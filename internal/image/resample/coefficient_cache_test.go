//go:build cgo

package resample

import (
	"bytes"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/buffer"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// The cache is limited by bytes: the coefficients of 40 wide images are not all kept.
func TestCoefficientCacheIsLimitedByBytes(t *testing.T) {
	var x coefficientCache
	for i := range 40 {
		in := 200_000 + i
		a := axis{in: in, to: float32(in), out: 256, filter: pixel.Bilinear, dtype: formats.Uint8}
		got := x.get(a)
		var fresh coefficients
		fresh.compute(a)
		if got.taps != fresh.taps || got.fixed(255, 7) != fresh.fixed(255, 7) {
			t.Fatalf("axis %d: weights differ from fresh ones", i)
		}
		held := 0
		for _, c := range x.entries {
			held += c.bytes()
		}
		if held > maxCacheBytes || held != x.bytes || len(x.order) != len(x.entries) {
			t.Fatalf("%d entries hold %d bytes, counted as %d, the limit is %d", len(x.entries), held, x.bytes, maxCacheBytes)
		}
	}
	if len(x.entries) < 2 {
		t.Errorf("%d entries are kept", len(x.entries))
	}
	wide := x.get(axis{in: 5_000_000, to: 5_000_000, out: 64, filter: pixel.Lanczos, dtype: formats.Uint8})
	if _, kept := x.entries[axis{in: 5_000_000, to: 5_000_000, out: 64, filter: pixel.Lanczos, dtype: formats.Uint8}]; kept || wide.n != 64 {
		t.Error("an axis larger than the cache is kept")
	}
}

// A region of a resize equals that region of the whole result, for every filter and type.
func TestResizeRegion(t *testing.T) {
	for _, d := range []formats.DType{formats.Uint8, formats.Uint16} {
		for c := 1; c <= 4; c++ {
			for _, f := range filters {
				checkResizeRegion(t, pixeltest.TestImage(31, 23, c, d), 47, 40, pixel.Rect{X: 5, Y: 9, W: 20, H: 13}, f)
				checkResizeRegion(t, pixeltest.TestImage(31, 23, c, d), 12, 60, pixel.Rect{X: 11, Y: 0, W: 1, H: 60}, f)
				checkResizeRegion(t, pixeltest.TestImage(300, 2, c, d), 9000, 2, pixel.Rect{X: 4400, W: 50, H: 2}, f)
				checkResizeRegion(t, pixeltest.TestImage(2, 300, c, d), 5, 9001, pixel.Rect{X: 1, Y: 8990, W: 3, H: 11}, f)
			}
		}
	}
}

func checkResizeRegion(t *testing.T, src *pixel.Image, w, h int, region pixel.Rect, f pixel.Filter) {
	t.Helper()
	var r Resampler
	var all, want, got pixel.Image
	if err := r.Resize(&all, src, pixel.Rect{}, w, h, f); err != nil {
		t.Fatal(err)
	}
	all.Crop(&want, region)
	if err := r.ResizeRegion(&got, src, pixel.Rect{}, pixel.Area{}, w, h, region, f); err != nil {
		t.Fatal(err)
	}
	if got.W != want.W || got.H != want.H || !bytes.Equal(got.Pix, want.Pix) {
		t.Errorf("%dx%dx%d %s to %dx%d by %s: pixels differ in %+v", src.W, src.H, src.C, src.DType, w, h, f, region)
	}
}

func FuzzResizeRegion(f *testing.F) {
	f.Add(uint16(31), uint16(23), uint16(47), uint16(40), uint16(5), uint16(9), uint16(20), uint16(13), uint8(3))
	f.Add(uint16(300), uint16(2), uint16(9000), uint16(2), uint16(4400), uint16(0), uint16(50), uint16(1), uint8(33))
	f.Fuzz(func(t *testing.T, w, h, toW, toH, x, y, partW, partH uint16, kind uint8) {
		side := func(v uint16, most int) int { return int(v)%most + 1 }
		out := pixel.Rect{W: side(toW, 12000), H: side(toH, 80)}
		region := pixel.Rect{X: int(x) % out.W, Y: int(y) % out.H}
		region.W, region.H = side(partW, out.W-region.X), side(partH, out.H-region.Y)
		d := formats.Uint8
		if kind&1 == 1 {
			d = formats.Uint16
		}
		src := pixeltest.TestImage(side(w, 400), side(h, 90), int(kind>>1&3)+1, d)
		checkResizeRegion(t, src, out.W, out.H, region, filters[int(kind>>3)%len(filters)])
	})
}

// Coefficients too large for the cache are freed with the large buffers.
func TestShrinkDropsCoefficients(t *testing.T) {
	var r Resampler
	var dst pixel.Image
	if err := r.Resize(&dst, pixeltest.TestImage(5_000_000, 1, 1, formats.Uint8), pixel.Rect{}, 256, 1, pixel.Bilinear); err != nil {
		t.Fatal(err)
	}
	r.Shrink()
	if c := r.cache.inUse; c != nil && c.bytes() > buffer.MaxKept {
		t.Errorf("%d bytes stay", c.bytes())
	}
	for _, c := range r.cache.entries {
		if c.bytes() > maxCacheBytes {
			t.Errorf("%d bytes are cached", c.bytes())
		}
	}
}
