//go:build cgo

package preprocess

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/forgotten"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// halves is an image whose left half is dark and whose right half is bright, as a JPEG with an EXIF
// orientation.
func halves(t *testing.T, w, h int, orientation byte) []byte {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		if i%w >= w/2 {
			img.Pix[i] = 250
		}
	}
	var b bytes.Buffer
	if err := codec.EncodeImage(&b, img, codec.EncodeOptions{Encoding: formats.JPEG, Quality: 95}); err != nil {
		t.Fatal(err)
	}
	return pixeltest.WithOrientation(b.Bytes(), orientation)
}

// Thumbnails have the asked size, stand upright and show the chosen part.
func TestThumbnail(t *testing.T) {
	for name, c := range map[string]struct {
		data        []byte
		o           ThumbnailOptions
		w, h        int
		left, right bool // whether the left and the right edge are bright
	}{
		"fit":             {halves(t, 800, 400, 1), ThumbnailOptions{W: 100, H: 100}, 100, 50, false, true},
		"fit, turned":     {halves(t, 800, 400, 6), ThumbnailOptions{W: 100, H: 100}, 50, 100, false, false},
		"fit, mirrored":   {halves(t, 800, 400, 2), ThumbnailOptions{W: 100, H: 100}, 100, 50, true, false},
		"fit, width":      {halves(t, 800, 400, 1), ThumbnailOptions{W: 100}, 100, 50, false, true},
		"fit, height":     {halves(t, 4000, 400, 1), ThumbnailOptions{H: 50}, 500, 50, false, true},
		"turned height":   {halves(t, 800, 400, 6), ThumbnailOptions{H: 100}, 50, 100, false, false},
		"fit, small":      {halves(t, 20, 10, 1), ThumbnailOptions{W: 100, H: 100}, 20, 10, false, true},
		"fill":            {halves(t, 800, 400, 1), ThumbnailOptions{W: 60, H: 60, Mode: ThumbnailFill, Sharpen: 0.5}, 60, 60, false, true},
		"fill left":       {halves(t, 800, 200, 1), ThumbnailOptions{W: 60, H: 60, Mode: ThumbnailFill, Anchor: AnchorLeft}, 60, 60, false, false},
		"fill right":      {halves(t, 800, 200, 1), ThumbnailOptions{W: 60, H: 60, Mode: ThumbnailFill, Anchor: AnchorRight}, 60, 60, true, true},
		"fill, turned":    {halves(t, 200, 800, 8), ThumbnailOptions{W: 160, H: 40, Mode: ThumbnailFill}, 160, 40, true, true},
		"fill, enlarging": {halves(t, 20, 10, 1), ThumbnailOptions{W: 60, H: 60, Mode: ThumbnailFill}, 60, 60, false, true},
		"a column":        {halves(t, 2, 2000, 1), ThumbnailOptions{W: 50, H: 50}, 1, 50, false, false},
	} {
		img, err := Thumbnail(bytes.NewReader(c.data), c.o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		b := img.Bounds()
		bright := func(x int) bool { return img.NRGBAAt(x, 1).R > 160 }
		if b.Dx() != c.w || b.Dy() != c.h {
			t.Errorf("%s: %v", name, b)
		} else if name != "a column" && name != "fill, turned" && (bright(0) != c.left || bright(c.w-1) != c.right) {
			t.Errorf("%s: bright on the left %v, on the right %v", name, bright(0), bright(c.w-1))
		}
		m, err := codec.DecodeImage(bytes.NewReader(c.data), codec.DecodeOptions{EXIF: pixel.EXIFApply})
		if err != nil {
			t.Fatal(err)
		}
		if of, err := ThumbnailOf(m, c.o); err != nil || of.Bounds() != b {
			t.Errorf("%s: of an image in memory: %v, %v", name, of.Bounds(), err)
		}
	}
}

// Pixels of all depths and channels become those of the thumbnail.
func TestThumbnailOfAllChannels(t *testing.T) {
	for _, d := range []formats.DType{formats.Uint8, formats.Uint16} {
		for c := 1; c <= 4; c++ {
			m := new(pixel.Image)
			m.Reset(8, 8, c, d)
			fill := []float64{200, 100, 50, 25}[:c]
			if d == formats.Uint16 {
				for i := range fill {
					fill[i] *= 257
				}
			}
			if err := m.Fill(fill); err != nil {
				t.Fatal(err)
			}
			img, err := ThumbnailOf(m.ToImage(), ThumbnailOptions{W: 4, H: 4})
			if err != nil {
				t.Fatal(err)
			}
			got, want := img.NRGBAAt(2, 2), [...][4]byte{1: {200, 200, 200, 255}, 2: {200, 200, 200, 100}, 3: {200, 100, 50, 255}, 4: {200, 100, 50, 25}}[c]
			if near := func(a, b byte) bool { return max(a, b)-min(a, b) <= 3 }; !near(got.R, want[0]) || !near(got.G, want[1]) || !near(got.B, want[2]) || !near(got.A, want[3]) {
				t.Errorf("%d channels of %s: %v, want %v", c, d, got, want)
			}
		}
	}
}

// A background is drawn behind what is transparent, so that the thumbnail can be written as a JPEG.
func TestThumbnailBackground(t *testing.T) {
	clear := image.NewNRGBA(image.Rect(0, 0, 8, 8))
	for i := range clear.Pix {
		clear.Pix[i] = []byte{200, 100, 50, 51}[i%4]
	}
	asJPEG := codec.EncodeOptions{Encoding: formats.JPEG}
	with, err := ThumbnailOf(clear, ThumbnailOptions{W: 4, Background: color.White})
	if err != nil {
		t.Fatal(err)
	}
	if got := with.NRGBAAt(1, 1); got != (color.NRGBA{244, 224, 214, 255}) {
		t.Errorf("over white: %v", got)
	}
	if err := codec.EncodeImage(new(bytes.Buffer), with, asJPEG); err != nil {
		t.Error(err)
	}
	without, err := ThumbnailOf(clear, ThumbnailOptions{W: 4})
	if err != nil {
		t.Fatal(err)
	}
	if err := codec.EncodeImage(new(bytes.Buffer), without, asJPEG); without.NRGBAAt(1, 1).A != 51 || err == nil || !strings.Contains(err.Error(), "draw it over a background") {
		t.Errorf("without a background: %v, %v", without.NRGBAAt(1, 1), err)
	}
}

func TestThumbnailMisuse(t *testing.T) {
	data := halves(t, 40, 20, 1)
	for name, o := range map[string]ThumbnailOptions{
		"no size": {}, "fill without height": {W: 5, Mode: ThumbnailFill}, "negative": {W: -3, H: 5}, "huge": {W: 1 << 20, H: 1}, "mode": {W: 5, H: 5, Mode: "squeeze"}, "anchor": {W: 5, H: 5, Anchor: "middle"},
		"sharpen": {W: 5, H: 5, Sharpen: -1}, "pixels": {W: 5, H: 5, MaxPixels: -1}, "bytes": {W: 5, H: 5, MaxBytes: -1},
	} {
		if _, err := Thumbnail(bytes.NewReader(data), o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	o := ThumbnailOptions{W: 5, H: 5}
	o.MaxPixels = 10
	if _, err := Thumbnail(bytes.NewReader(data), o); !errors.Is(err, pixel.ErrTooLarge) {
		t.Error(err)
	}
	if _, err := Thumbnail(bytes.NewReader([]byte("text")), ThumbnailOptions{W: 5, H: 5}); !errors.Is(err, pixel.ErrNotImage) {
		t.Error(err)
	}
}

// What is not a Processor, and one that is closed, is an error.
func TestProcessorMisuse(t *testing.T) {
	schema := formats.Schema{{Name: "image", Kind: formats.Image}}
	var zero Processor
	closed, err := NewProcessor(Recipe{}, schema)
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	closed.Close()
	zero.Close()
	(*Processor)(nil).Close()
	zero.StopBy(nil)
	p := newProcessor(t, Recipe{}, schema)
	in, out := new(formats.Sample), new(formats.Sample)
	in.Resize(1)
	in.Values[0].Data = halves(t, 20, 10, 1)
	for name, err := range map[string]error{
		"zero": zero.Process(in, out), "closed": closed.Process(in, out),
		"the same": p.Process(in, in),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := closed.Process(in, out); !errors.Is(err, formats.ErrClosed) {
		t.Error("closed:", err)
	}
	if err := p.Process(in, out); err != nil {
		t.Error(err)
	}
}

// A Processor that nobody closed is freed once it is unreachable, also after it has worked.
func TestForgottenProcessorIsCleanedUp(t *testing.T) {
	data := halves(t, 20, 10, 1)
	func() {
		p, err := NewProcessor(Recipe{Encode: codec.EncodeOptions{Encoding: formats.PNG}}, formats.Schema{{Name: "image", Kind: formats.Image}})
		if err != nil {
			t.Fatal(err)
		}
		if err := process(p, data); err != nil {
			t.Fatal(err)
		}
	}()
	mine := func(list []string) bool {
		return slices.ContainsFunc(list, func(what string) bool { return strings.Contains(what, "thumbnail_test.go") })
	}
	for mine(forgotten.StillOpen()) { // until the collector has run
		runtime.GC()
		runtime.Gosched()
	}
	if !mine(forgotten.Closed()) {
		t.Errorf("it was not cleaned up: %v", forgotten.Closed())
	}
}
