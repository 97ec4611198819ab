package codec

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// regionFiles are JPEGs of about 60x50 pixels in all samplings and codings, with restart markers at
// several intervals.
func regionFiles(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(pixeltest.Testdata("region", "*.jpg"))
	if err != nil || len(paths) < 20 {
		t.Fatalf("%d files in testdata/region, %v", len(paths), err)
	}
	files := map[string][]byte{}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".jpg")
		if jpeg.DecoderName == "image/jpeg" && (strings.HasPrefix(name, "arithmetic") || name == "progressive-restart") {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = data
	}
	return files
}

// Regions of a few sizes at every position, and all ranges of columns and rows, equal the crop of the
// whole image.
func TestRegionEqualsCrop(t *testing.T) {
	for name, data := range regionFiles(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newRegionCheck(t, data, DecodeOptions{})
			defer c.decoder.Close()
			for _, r := range regions(c.whole.W, c.whole.H) {
				c.region(r)
			}
		})
	}
}

// regions returns the regions to test: two sizes at every position, and all ranges of columns and rows.
// Short tests skip most of them.
func regions(w, h int) []pixel.Rect {
	step := 1
	if testing.Short() {
		step = 11
	}
	var all []pixel.Rect
	for _, s := range []pixel.Rect{{W: 7, H: 5}, {W: 17, H: 16}} {
		for i := 0; i < (w-s.W+1)*(h-s.H+1); i += step {
			all = append(all, pixel.Rect{X: i % (w - s.W + 1), Y: i / (w - s.W + 1), W: s.W, H: s.H})
		}
	}
	for from := range w {
		for to := from + 1; to <= w; to += step {
			all = append(all, pixel.Rect{X: from, Y: h / 3, W: to - from, H: 2})
		}
	}
	for from := range h {
		for to := from + 1; to <= h; to += step {
			all = append(all, pixel.Rect{X: w / 3, Y: from, W: 2, H: to - from})
		}
	}
	return all
}

// regionCheck compares regions of an image with the whole.
type regionCheck struct {
	t       *testing.T
	decoder *Decoder
	value   formats.Value
	options DecodeOptions
	whole   pixel.Image
	got     pixel.Image
	want    pixel.Image
}

func newRegionCheck(t *testing.T, data []byte, o DecodeOptions) *regionCheck {
	c := &regionCheck{t: t, decoder: NewDecoder(), value: formats.Value{Data: data}, options: o}
	if err := c.decoder.Decode(&c.whole, &c.value, o); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *regionCheck) region(r pixel.Rect) {
	o := c.options
	o.Region = r
	if err := c.decoder.Decode(&c.got, &c.value, o); err != nil {
		c.t.Fatalf("region %+v: %v", r, err)
	}
	c.whole.Crop(&c.want, r)
	if c.got.W != r.W || c.got.H != r.H || !bytes.Equal(c.got.Pix, c.want.Pix) {
		c.t.Fatalf("region %+v of %dx%d, %+v, differs from the image's: %s", r, c.whole.W, c.whole.H, o, firstDifference(&c.got, &c.want))
	}
}

// firstDifference says where two images of the same shape differ first.
func firstDifference(got, want *pixel.Image) string {
	for i := range got.Pix {
		if got.Pix[i] != want.Pix[i] {
			return fmt.Sprintf("(%d, %d) is %d, not %d", i/got.C%got.W, i/got.C/got.W, got.Pix[i], want.Pix[i])
		}
	}
	return "nowhere"
}

// Colours are also converted in a region.
func TestRegionInGray(t *testing.T) {
	for name, data := range regionFiles(t) {
		c := newRegionCheck(t, data, DecodeOptions{Color: pixel.ColorGray})
		for i := range 20 {
			c.region(pixel.Rect{X: i, Y: 20 - i, W: 20, H: 15})
		}
		if c.decoder.Close(); c.whole.C != 1 {
			t.Errorf("%s: %d channels", name, c.whole.C)
		}
	}
}

// With EXIFApply a region is one of the upright image.
func TestRegionOfUpright(t *testing.T) {
	plain := regionFiles(t)["420-tiles"]
	for orientation := 1; orientation <= 8; orientation++ {
		c := newRegionCheck(t, pixeltest.WithOrientation(plain, byte(orientation)), DecodeOptions{EXIF: pixel.EXIFApply})
		for _, r := range []pixel.Rect{{X: 3, Y: 40, W: 5, H: 9}, {X: 40, Y: 3, W: 9, H: 5}, {W: c.whole.W, H: 1}, {W: 1, H: c.whole.H}, {X: 20, Y: 20, W: 30, H: 31}} {
			c.region(r)
		}
		c.decoder.Close()
	}
}

// Regions of images other than JPEGs are cropped.
func TestRegionOfOthers(t *testing.T) {
	_, png := encoded(t, 40, 30)
	c := newRegionCheck(t, png, DecodeOptions{})
	c.region(pixel.Rect{X: 3, Y: 5, W: 20, H: 10})
	raw := regionCheck{t: t, decoder: NewDecoder(), whole: c.whole, value: formats.Value{
		Data: c.whole.Pix, Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{30, 40, 3},
	}}
	raw.region(pixel.Rect{X: 3, Y: 5, W: 20, H: 10})
	raw.options.Region = pixel.Rect{X: 30, Y: 5, W: 20, H: 10}
	if err := raw.decoder.Decode(&raw.got, &raw.value, raw.options); err == nil {
		t.Error("a region outside the image is decoded")
	}
}

// FuzzRegion checks that a region has the pixels of the whole image, also of a damaged one; where the whole
// is refused, a region may be readable.
func FuzzRegion(f *testing.F) {
	for _, data := range regionFiles(f) {
		f.Add(data, uint16(3), uint16(5), uint16(17), uint16(9))
		f.Add(data, uint16(35), uint16(30), uint16(17), uint16(9))
	}
	d := NewDecoder()
	f.Cleanup(d.Close)
	var whole, got, want pixel.Image
	f.Fuzz(func(t *testing.T, data []byte, x, y, w, h uint16) {
		v := formats.Value{Data: data}
		o := DecodeOptions{MaxPixels: 1 << 20}
		err := d.Decode(&whole, &v, o)
		r := pixel.Rect{X: int(x), Y: int(y), W: int(w) + 1, H: int(h) + 1}
		if err == nil {
			r.X, r.Y = r.X%whole.W, r.Y%whole.H
			r.W, r.H = min(r.W, whole.W-r.X), min(r.H, whole.H-r.Y)
		}
		warning := d.Warning()
		o.Region = r
		if regionErr := d.Decode(&got, &v, o); regionErr != nil || err != nil {
			if err == nil {
				t.Fatalf("region %+v: %v", r, regionErr)
			}
			return
		}
		if whole.Crop(&want, r); warning == "" && !bytes.Equal(got.Pix, want.Pix) {
			t.Fatalf("region %+v of %dx%d: %s", r, whole.W, whole.H, firstDifference(&got, &want))
		}
	})
}
