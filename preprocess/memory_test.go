package preprocess

import (
	"runtime"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/budget"
	"github.com/dsconv/dsconv/internal/image/buffer"
	inner "github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/internal/testing/hostile"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Cropping a very wide image to a small one takes little memory: cropped pixels are not computed.
func TestCoverOfWideImage(t *testing.T) {
	p, err := NewProcessor(Recipe{Resize: Resize{Mode: ResizeCover, W: 256, H: 256}, Encode: codec.EncodeOptions{Encoding: formats.Raw}},
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

// After an image of a few megapixels no collection is forced and its buffers stay; after a large one they
// are freed.
func TestOrdinaryImagesKeepTheirBuffers(t *testing.T) {
	p, err := NewProcessor(Recipe{Resize: Resize{Mode: ResizeExact, W: 8, H: 8}, Encode: codec.EncodeOptions{Encoding: formats.Raw}},
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
		if n := forced() - before; (n == 0) != c.kept || (cap(p.decoded.Pix) > buffer.MaxKept) != c.kept {
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
		var r budget.Reservation
		if err := r.ReserveImage(inner.DecodeMemory(nil, formats.PNG, pixel.Header{H: c.h, W: c.w, C: 3, DType: formats.Uint8, Orientation: 1},
			pixel.Rect{W: c.w, H: c.h}, inner.DecodeOptions{Color: pixel.ColorRGB}), c.size, 0); err != nil || r.Held() != c.held {
			t.Errorf("%+v: %v", c, err)
		}
		r.Release()
	}
}
