package preprocess

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	inner "github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/internal/testing/hostile"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// processOne processes one image file.
func processOne(t *testing.T, r Recipe, data []byte) (*formats.Value, error) {
	t.Helper()
	p, err := NewProcessor(r, formats.Schema{{Name: "image", Kind: formats.Image}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	in := formats.Sample{Values: []formats.Value{{Data: data}}}
	var out formats.Sample
	if err := p.Process(&in, &out); err != nil {
		return nil, err
	}
	return &out.Values[0], nil
}

// A large output size does not raise the limit of the decoded image.
func TestResizeKeepsTheLimit(t *testing.T) {
	raw := codec.EncodeOptions{Encoding: formats.Raw}
	for name, c := range map[string]struct {
		recipe Recipe
		data   []byte
	}{
		"exact":  {Recipe{MaxPixels: 50000, Resize: Resize{Mode: ResizeExact, W: 256, H: 256}, Encode: raw}, hostile.PNG(300, 200, 8, hostile.Gray)},
		"longer": {Recipe{MaxPixels: 50000, Resize: Resize{Mode: ResizeLonger, W: 65535}, Encode: raw}, hostile.PNG(300, 200, 8, hostile.Gray)},
		"bomb":   {Recipe{Resize: Resize{Mode: ResizeLonger, W: 65535}, Encode: raw}, hostile.PNG(200_000_000, 1, 8, hostile.Gray)},
	} {
		if _, err := processOne(t, c.recipe, c.data); !errors.Is(err, pixel.ErrTooLarge) || !strings.Contains(err.Error(), "the limit is") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// It was stored as it was, with PNG rows of gigabytes, since the path of such an image had neither resize nor crop.
	cover := Recipe{Resize: Resize{Mode: ResizeCover, W: 64, H: 64}, Encode: codec.EncodeOptions{Encoding: formats.PNG}}
	if v, err := processOne(t, cover, hostile.PNG(5_000_000, 1, 8, hostile.Gray)); !errors.Is(err, pixel.ErrTooLarge) || !strings.Contains(err.Error(), "320000000x64") {
		t.Errorf("one row: %v, %v", v, err)
	}
	large := Recipe{MaxPixels: 50000, Resize: Resize{Mode: ResizeExact, W: 4000, H: 3000}, Encode: codec.EncodeOptions{Encoding: formats.PNG}}
	if _, err := processOne(t, large, hostile.PNG(200, 200, 8, hostile.RGB)); err != nil {
		t.Errorf("an output larger than the limit: %v", err)
	}
}

// ReserveOutput is not called for an image that is refused.
func TestReserveOutputAfterTheLimit(t *testing.T) {
	p, err := NewProcessor(Recipe{EXIF: pixel.EXIFApply, Encode: codec.EncodeOptions{Encoding: formats.Raw}}, formats.Schema{{Name: "image", Kind: formats.Image}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.ReserveOutput = func(n int64) bool {
		t.Errorf("asked for %d bytes", n)
		return false
	}
	in := formats.Sample{Values: []formats.Value{{Data: hostile.GIF(65535, 65535)}}}
	var out formats.Sample
	if err := p.Process(&in, &out); !errors.Is(err, pixel.ErrTooLarge) {
		t.Error(err)
	}
}

// A photo within the limit of pixels is turned and encoded, though not all buffers fit into the limit at
// once: used ones are freed early. The result is the same.
func TestTurnedPhotosWithinTheLimit(t *testing.T) {
	if !jpeg.HasLibjpegTurbo {
		t.Skip("the standard library cannot write such JPEGs, and takes more memory to decode one")
	}
	const limit = 12_000_000
	e := inner.NewEncoder()
	defer e.Close()
	for _, c := range []struct {
		w, h   int
		encode codec.EncodeOptions
	}{
		{4000, 3000, codec.EncodeOptions{Quality: 90, Progressive: true}},
		{4000, 3000, codec.EncodeOptions{Quality: 90, Optimize: true}},
		{3000, 2400, codec.EncodeOptions{Encoding: formats.Raw}},
	} {
		jpeg, err := e.AppendJPEG(nil, &pixel.Image{Pix: make([]byte, 3*c.w*c.h), H: c.h, W: c.w, C: 3, DType: formats.Uint8}, inner.EncodeOptions{Quality: 90})
		if err != nil {
			t.Fatal(err)
		}
		if c.encode.Encoding == "" {
			c.encode.Encoding = formats.JPEG
		}
		r := Recipe{EXIF: pixel.EXIFApply, Encode: c.encode}
		want, err := processOne(t, r, pixeltest.WithOrientation(jpeg, 6))
		if err != nil {
			t.Fatal(err)
		}
		r.MaxPixels = limit
		got, err := processOne(t, r, pixeltest.WithOrientation(jpeg, 6))
		if err != nil || got.Shape[0] != c.w || !bytes.Equal(got.Data, want.Data) {
			t.Errorf("%+v: %v", c.encode, err)
		}
	}
}
