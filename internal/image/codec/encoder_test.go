package codec

import (
	"bytes"
	"errors"
	"fmt"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// jpegOptions are options of JPEGs, as ours and as Pillow's.
var jpegOptions = map[string]struct {
	ours   EncodeOptions
	pillow pixeltest.Ask
}{
	"plain":            {EncodeOptions{}, pixeltest.Ask{}},
	"420":              {EncodeOptions{Sampling: pixel.Sampling420}, pixeltest.Ask{"subsampling": 2}},
	"422":              {EncodeOptions{Sampling: pixel.Sampling422}, pixeltest.Ask{"subsampling": 1}},
	"444":              {EncodeOptions{Sampling: pixel.Sampling444}, pixeltest.Ask{"subsampling": 0}},
	"optimize":         {EncodeOptions{Optimize: true}, pixeltest.Ask{"optimize": true}},
	"progressive":      {EncodeOptions{Progressive: true}, pixeltest.Ask{"progressive": true}},
	"444, progressive": {EncodeOptions{Sampling: pixel.Sampling444, Progressive: true}, pixeltest.Ask{"subsampling": 0, "progressive": true}},
}

// Our file equals Pillow's, also if the image before had its own tables.
func TestJPEGEqualsPillow(t *testing.T) {
	pixeltest.Exact(t)
	p := pixeltest.StartPillow(t)
	e := NewEncoder()
	defer e.Close()
	for _, size := range [][2]int{{1, 1}, {16, 16}, {97, 61}, {341, 256}} {
		for _, c := range []int{1, 3} {
			m := pixeltest.TestImage(size[0], size[1], c, formats.Uint8)
			for _, quality := range []int{1, 75, 90, 100} {
				for name, o := range jpegOptions {
					if c == 1 && o.ours.Sampling != "" { // Pillow notes it in the header
						continue
					}
					options := maps.Clone(o.pillow)
					options["quality"], o.ours.Quality = quality, quality
					mode := map[int]string{1: "L", 3: "RGB"}[c]
					want := p.Ask(pixeltest.Ask{"op": "save", "mode": mode, "size": size, "pixels": m.Pix, "options": options})
					if want.Error != "" {
						t.Fatal(want.Error)
					}
					got, err := e.AppendJPEG(nil, m, o.ours)
					if err != nil || !bytes.Equal(got, want.Pixels) {
						t.Errorf("%v %s quality %d, %s: bytes differ from Pillow's (%v)", size, mode, quality, name, err)
					}
				}
			}
		}
	}
}

// Restart markers do not change pixels, and lie at restartInterval.
func TestJPEGIntervalKeepsPixels(t *testing.T) {
	pixeltest.Exact(t)
	e, d := NewEncoder(), NewDecoder()
	defer e.Close()
	defer d.Close()
	for _, size := range [][2]int{{1, 1}, {17, 33}, {341, 256}} {
		for _, c := range []int{1, 3} {
			m := pixeltest.TestImage(size[0], size[1], c, formats.Uint8)
			for name, o := range jpegOptions {
				if o.ours.Progressive {
					continue
				}
				o.ours.Quality = 90
				plain := decodedJPEG(t, e, d, m, o.ours)
				o.ours.Interval = 8
				if !bytes.Equal(decodedJPEG(t, e, d, m, o.ours).Pix, plain.Pix) {
					t.Errorf("%v, %d channels, %s: pixels differ with restart markers", size, c, name)
				}
			}
		}
	}
	gray, err := e.AppendJPEG(nil, pixeltest.TestImage(341, 256, 1, formats.Uint8), EncodeOptions{Quality: 90, Interval: 8})
	if err != nil || !bytes.Contains(gray, []byte{0xFF, 0xDD, 0, 4, 0, 43}) { // 43 MCUs a row, a prime
		t.Errorf("no restart interval of a row: %v", err)
	}
	if _, err := e.AppendJPEG(nil, pixeltest.TestImage(3, 3, 3, formats.Uint8), EncodeOptions{Progressive: true, Interval: 8}); !errors.Is(err, pixel.ErrUnsupported) {
		t.Errorf("a tiled progressive JPEG: %v", err)
	}
}

func decodedJPEG(t *testing.T, e *Encoder, d *Decoder, m *pixel.Image, o EncodeOptions) (out pixel.Image) {
	t.Helper()
	data, err := e.AppendJPEG(nil, m, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Decode(&out, &formats.Value{Data: data}, DecodeOptions{Color: pixel.ColorKeep}); err != nil || d.Warning() != "" {
		t.Fatal(err, d.Warning())
	}
	return out
}

// pngImage has noise, and rows that suit each filter best.
func pngImage(w, h, c int, d formats.DType) *pixel.Image {
	m := pixeltest.TestImage(w, h, c, d)
	for i := range m.Pix {
		switch y := i / m.Stride(); y / 2 % 5 {
		case 0:
			m.Pix[i] = 7
		case 1, 2:
			m.Pix[i] = byte(i*5 + y*3)
		case 3:
			m.Pix[i] = m.Pix[i-m.Stride()] + m.Pix[i]%3
		}
	}
	if c == 4 { // opaque: the channel must be kept nevertheless
		n := d.Size()
		for i := 3 * n; i < len(m.Pix); i += 4 * n {
			m.Pix[i], m.Pix[i+n-1] = 255, 255
		}
	}
	return m
}

// Our PNGs decode to the same pixels with our decoder, with Go's and with Pillow, which has no 16-bit
// colours.
func TestPNGRoundTrip(t *testing.T) {
	e, d := NewEncoder(), NewDecoder()
	defer e.Close()
	defer d.Close()
	path := filepath.Join(t.TempDir(), "image.png")
	var p *pixeltest.Pillow
	if os.Getenv("DSCONV_PYTHON") != "" {
		p = pixeltest.StartPillow(t)
	}
	for _, typ := range []formats.DType{formats.Uint8, formats.Uint16} {
		for c := 1; c <= 4; c++ {
			for _, size := range [][2]int{{1, 1}, {13, 11}, {1, 40}, {200, 21}} {
				m := pngImage(size[0], size[1], c, typ)
				var v formats.Value
				if err := e.Encode(&v, m, EncodeOptions{Encoding: formats.PNG}, 0); err != nil {
					t.Fatal(err)
				}
				name := fmt.Sprintf("%v, %d channels of %s", size, c, typ)
				checkPNGOf(t, name, d, m, v)
				if p == nil || c > 1 && typ == formats.Uint16 {
					continue
				}
				if err := os.WriteFile(path, v.Data, 0o666); err != nil {
					t.Fatal(err)
				}
				if got := p.Ask(pixeltest.Ask{"op": "convert", "path": path, "mode": ""}); got.SHA != pixeltest.SHA(m) {
					t.Errorf("%s: pixels differ for Pillow: %v %s", name, got.Shape, got.Error)
				}
			}
		}
	}
}

// checkPNGOf reads m's PNG with our decoder and with Go's.
func checkPNGOf(t *testing.T, name string, d *Decoder, m *pixel.Image, v formats.Value) {
	t.Helper()
	var got, std pixel.Image
	if err := d.Decode(&got, &v, DecodeOptions{Color: pixel.ColorKeep}); err != nil || d.Warning() != "" {
		t.Fatal(name, err, d.Warning())
	}
	if !slices.Equal(v.Shape, []int{m.H, m.W, m.C}) || got.C != m.C || got.DType != m.DType || v.DType != m.DType || !bytes.Equal(got.Pix, m.Pix) {
		t.Errorf("%s: %v %s: pixels differ", name, v.Shape, v.DType)
	}
	img, err := png.Decode(bytes.NewReader(v.Data))
	if err != nil {
		t.Fatal(name, err)
	}
	if err := pixeltest.ReadImage(&std, img, pixel.Header{H: m.H, W: m.W, C: m.C, DType: m.DType}); err != nil || !bytes.Equal(std.Pix, m.Pix) {
		t.Errorf("%s: pixels differ for image/png: %v", name, err)
	}
}

// Two encoders write the same bytes, whatever they encoded before.
func TestPNGIsDeterministic(t *testing.T) {
	one, other := NewEncoder(), NewEncoder()
	m := pngImage(61, 47, 3, formats.Uint8)
	if _, err := one.appendPNG(nil, pngImage(99, 31, 4, formats.Uint16)); err != nil {
		t.Fatal(err)
	}
	a, err := one.appendPNG([]byte("x"), m)
	if err != nil || a[0] != 'x' {
		t.Fatal(err)
	}
	if b, err := other.appendPNG(nil, m); err != nil || !bytes.Equal(a[1:], b) {
		t.Errorf("another encoder writes other bytes: %v", err)
	}
}

// Pixels of any shape survive a round trip.
func FuzzPNGRoundTrip(f *testing.F) {
	f.Add(uint8(3), uint8(1), false, []byte("some pixels that are no pixels"))
	f.Add(uint8(7), uint8(4), true, bytes.Repeat([]byte{1, 2, 250}, 400))
	e, d := NewEncoder(), NewDecoder()
	f.Cleanup(e.Close)
	f.Cleanup(d.Close)
	f.Fuzz(func(t *testing.T, width, channels uint8, deep bool, pix []byte) {
		m := &pixel.Image{W: 1 + int(width), C: 1 + int(channels)%4, DType: formats.Uint8}
		if deep {
			m.DType = formats.Uint16
		}
		m.H = len(pix) / m.Stride()
		if m.Pix = pix[:m.H*m.Stride()]; m.H == 0 {
			return
		}
		var v formats.Value
		if err := e.Encode(&v, m, EncodeOptions{Encoding: formats.PNG}, 0); err != nil {
			t.Fatal(err)
		}
		checkPNGOf(t, "fuzzed", d, m, v)
	})
}

func TestEncodeErrors(t *testing.T) {
	e := NewEncoder()
	defer e.Close()
	short := pixeltest.TestImage(4, 4, 3, formats.Uint8)
	short.Pix = short.Pix[:5]
	for name, m := range map[string]*pixel.Image{
		"alpha":         pixeltest.TestImage(4, 4, 4, formats.Uint8),
		"16 bits":       pixeltest.TestImage(4, 4, 1, formats.Uint16),
		"too wide":      pixeltest.TestImage(65501, 1, 1, formats.Uint8),
		"no image":      {},
		"short":         short,
		"another dtype": {Pix: make([]byte, 4), H: 1, W: 1, C: 1, DType: formats.Float32},
	} {
		_, err := e.AppendJPEG(nil, m, EncodeOptions{Quality: 90})
		if !errors.Is(err, pixel.ErrUnsupported) && !errors.Is(err, pixel.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The encoder works after errors, and appends.
	out, err := e.AppendJPEG([]byte("x"), pixeltest.TestImage(4, 4, 3, formats.Uint8), EncodeOptions{Quality: 90})
	if err != nil || out[0] != 'x' || structureError(out[1:], formats.JPEG) != nil {
		t.Errorf("after errors: %q, %v", out, err)
	}
}
