package preprocess

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/hostile"
)

// The cache is limited by bytes: the coefficients of 40 wide images are not all kept.
func TestCoefficientCacheIsLimitedByBytes(t *testing.T) {
	var x coefficientCache
	for i := range 40 {
		in := 200_000 + i
		a := axis{in: in, to: float32(in), out: 256, filter: Bilinear, dtype: formats.Uint8}
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
	wide := x.get(axis{in: 5_000_000, to: 5_000_000, out: 64, filter: Lanczos, dtype: formats.Uint8})
	if _, kept := x.entries[axis{in: 5_000_000, to: 5_000_000, out: 64, filter: Lanczos, dtype: formats.Uint8}]; kept || wide.n != 64 {
		t.Error("an axis larger than the cache is kept")
	}
}

// A region of a resize equals that region of the whole result, for every filter and type.
func TestResizeRegion(t *testing.T) {
	for _, d := range []formats.DType{formats.Uint8, formats.Uint16} {
		for c := 1; c <= 4; c++ {
			for _, f := range filters {
				checkResizeRegion(t, testImage(31, 23, c, d), 47, 40, Rect{X: 5, Y: 9, W: 20, H: 13}, f)
				checkResizeRegion(t, testImage(31, 23, c, d), 12, 60, Rect{X: 11, Y: 0, W: 1, H: 60}, f)
				checkResizeRegion(t, testImage(300, 2, c, d), 9000, 2, Rect{X: 4400, W: 50, H: 2}, f)
				checkResizeRegion(t, testImage(2, 300, c, d), 5, 9001, Rect{X: 1, Y: 8990, W: 3, H: 11}, f)
			}
		}
	}
}

func checkResizeRegion(t *testing.T, src *Image, w, h int, region Rect, f Filter) {
	t.Helper()
	var r Resampler
	var all, want, got Image
	if err := r.Resize(&all, src, Rect{}, w, h, f); err != nil {
		t.Fatal(err)
	}
	all.crop(&want, region)
	if err := r.ResizeRegion(&got, src, Rect{}, Area{}, w, h, region, f); err != nil {
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
		out := Rect{W: side(toW, 12000), H: side(toH, 80)}
		region := Rect{X: int(x) % out.W, Y: int(y) % out.H}
		region.W, region.H = side(partW, out.W-region.X), side(partH, out.H-region.Y)
		d := formats.Uint8
		if kind&1 == 1 {
			d = formats.Uint16
		}
		src := testImage(side(w, 400), side(h, 90), int(kind>>1&3)+1, d)
		checkResizeRegion(t, src, out.W, out.H, region, filters[int(kind>>3)%len(filters)])
	})
}

// Cropping a very wide image to a small one takes little memory: cropped pixels are not computed.
func TestCoverOfWideImage(t *testing.T) {
	p, err := NewProcessor(Recipe{Resize: Resize{Mode: ResizeCover, W: 256, H: 256}, Encode: Encode{Encoding: formats.Raw}},
		formats.Schema{{Name: "image", Kind: formats.Image}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	in := formats.Sample{Values: []formats.Value{{Data: hostile.PNG(1_000_000, 1, 8, hostile.Gray)}}}
	var out formats.Sample
	before := allocated()
	if err := p.Process(&in, &out); err != nil {
		t.Fatal(err)
	}
	if n := allocated() - before; n > 100<<20 {
		t.Errorf("%d MB were allocated", n>>20)
	}
	if len(out.Values[0].Data) != 256*256*3 {
		t.Errorf("%d bytes", len(out.Values[0].Data))
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// Reservations together never exceed the Budget, and all are granted in the end.
func TestReservationsKeepTheBudget(t *testing.T) {
	var taken, most atomic.Int64
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			var r Reservation
			for k := range 20 {
				n := int64(unreservedBytes + 1 + (i*37+k*91)%900<<20)
				if err := r.ReserveImage(n, 10, 0); err != nil {
					t.Error(err)
					return
				}
				now := taken.Add(r.held)
				for was := most.Load(); now > was && !most.CompareAndSwap(was, now); was = most.Load() {
				}
				taken.Add(-r.held)
				r.release()
			}
		})
	}
	all.Wait()
	if most.Load() > Budget {
		t.Errorf("%d bytes at once, the budget is %d", most.Load(), int64(Budget))
	}
	if !budget.TryAcquire(Budget) {
		t.Fatal("not all room came back")
	}
	budget.Release(Budget)
}

func TestReservationOfOneImage(t *testing.T) {
	for _, c := range []struct {
		need            int64
		size, maxPixels int
		held, large     bool
	}{
		{need: unreservedBytes, size: 1},
		{need: unreservedBytes + 1, size: 1, held: true},
		{need: maxAllowance, size: 20 << 20},
		{need: maxAllowance + 1, size: 20 << 20, held: true},
		{need: 2 << 30, size: 100 << 20, held: true},
		{need: 2 << 30, size: 60 << 20, large: true},
		{need: bytesPerPixel * DefaultMaxPixels, size: 1, held: true},
		{need: bytesPerPixel*DefaultMaxPixels + 1, size: 1, large: true},
		{need: unreservedBytes + 1, size: 1, maxPixels: 1000, large: true},
		{need: 3 << 30, size: 1, maxPixels: 1 << 30, held: true},
		{need: tooManyBytes, size: 1, large: true},
	} {
		var r Reservation
		err := r.ReserveImage(c.need, c.size, c.maxPixels)
		if errors.Is(err, ErrTooLarge) != c.large || r.Held() != c.held {
			t.Errorf("%+v: held %v, %v", c, r.Held(), err)
		}
		r.Release()
	}
}

// Images with large claims are decoded or refused as too large, without memory beyond the Budget.
func TestHostileImagesAreTooLarge(t *testing.T) {
	d := NewDecoder()
	defer d.Close()
	var m Image
	for name, data := range map[string][]byte{
		"16 bits":  hostile.PNG(hostile.Side, hostile.Side, 16, hostile.RGBA),
		"a strip":  hostile.TIFF(8000, 8000, 8*8000*8000),
		"lossless": hostile.WebP(16383, 10900),
	} {
		if err := d.Decode(&m, &formats.Value{Data: data}, DecodeOptions{Color: ColorKeep}); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := d.Decode(&m, &formats.Value{Data: hostile.TIFF(1000, 1000, 1_000_000)}, DecodeOptions{Color: ColorKeep}); err != nil {
		t.Errorf("an intact TIFF: %v", err)
	}
}

// A zstd frame without a size is decompressed to as much memory as its shape takes, and no more.
func TestZstdFrameWithoutSize(t *testing.T) {
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 1<<20)
	for range 700 {
		if _, err := z.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	v := &formats.Value{Data: b.Bytes(), Encoding: formats.RawZstd, DType: formats.Uint8, Shape: []int{2, 2, 3}}
	d := NewDecoder()
	defer d.Close()
	before := allocated()
	var m Image
	err = d.Decode(&m, v, DecodeOptions{})
	_, err2 := d.Elements(v)
	if err == nil || err2 == nil || !strings.Contains(err.Error(), "zstd") {
		t.Errorf("700 MB for 12 values: %v, %v", err, err2)
	}
	if n := allocated() - before; n > 64<<20 {
		t.Errorf("%d MB were allocated", n>>20)
	}
	v.Shape = []int{1 << 20, 1 << 20}
	if _, err := d.Elements(v); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a tensor of 2^40 elements: %v", err)
	}
}

// Coefficients too large for the cache are freed with the large buffers.
func TestShrinkDropsCoefficients(t *testing.T) {
	var r Resampler
	var dst Image
	if err := r.Resize(&dst, testImage(5_000_000, 1, 1, formats.Uint8), Rect{}, 256, 1, Bilinear); err != nil {
		t.Fatal(err)
	}
	r.Shrink()
	if c := r.cache.inUse; c != nil && c.bytes() > maxKeptBuffer {
		t.Errorf("%d bytes stay", c.bytes())
	}
	for _, c := range r.cache.entries {
		if c.bytes() > maxCacheBytes {
			t.Errorf("%d bytes are cached", c.bytes())
		}
	}
}

// After an image of a few megapixels no collection is forced and its buffers stay; after a large one they
// are freed.
func TestOrdinaryImagesKeepTheirBuffers(t *testing.T) {
	p, err := NewProcessor(Recipe{Resize: Resize{Mode: ResizeExact, W: 8, H: 8}, Encode: Encode{Encoding: formats.Raw}},
		formats.Schema{{Name: "image", Kind: formats.Image}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var out formats.Sample
	for _, c := range []struct {
		name string
		data []byte
		kept bool
	}{
		{"A4 in black and white", hostile.PNG(2480, 3508, 1, hostile.Gray), true},
		{"a screenshot", hostile.PNG(3840, 2160, 8, hostile.RGBA), true},
		{"a large image", hostile.PNG(6000, 5000, 8, hostile.Gray), false},
	} {
		in := formats.Sample{Values: []formats.Value{{Data: c.data}}}
		before := forced()
		if err := p.Process(&in, &out); err != nil {
			t.Fatal(err)
		}
		if n := forced() - before; (n == 0) != c.kept || (cap(p.decoded.Pix) > maxKeptBuffer) != c.kept {
			t.Errorf("%s: %d forced collections, a buffer of %d bytes", c.name, n, cap(p.decoded.Pix))
		}
	}
}

// forced is the number of forced collections.
func forced() uint32 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.NumForcedGC
}

// A photo of 50 million pixels reserves nothing of the Budget; an image of the largest allowed size does,
// whatever else is in its file.
func TestLargeFilesTakeTheBudget(t *testing.T) {
	for _, c := range []struct {
		h, w, size int
		held       bool
	}{
		{8192, 6144, 12 << 20, false},
		{178_000_000, 1, 25 << 20, true},
	} {
		var r Reservation
		if err := r.ReserveImage(decodeMemory(nil, formats.PNG, Header{H: c.h, W: c.w, C: 3, DType: formats.Uint8, Orientation: 1},
			Rect{W: c.w, H: c.h}, DecodeOptions{Color: ColorRGB}), c.size, 0); err != nil || r.Held() != c.held {
			t.Errorf("%+v: %v", c, err)
		}
		r.Release()
	}
}
