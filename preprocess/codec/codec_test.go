package codec_test

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Decoding from bytes, from a reader and to an image.Image gives Pillow's pixels, of every encoding.
func TestFunctionsEqualPillow(t *testing.T) {
	pixeltest.Exact(t)
	p := pixeltest.StartPillow(t)
	dir := t.TempDir()
	made := p.Ask(pixeltest.Ask{"op": "make", "dir": dir})
	for _, name := range made.Names {
		path := filepath.Join(dir, name)
		want := p.Ask(pixeltest.Ask{"op": "convert", "path": path, "mode": "RGB"})
		data := pixeltest.ReadValue(t, path).Data
		m, err := codec.Decode(data, codec.DecodeOptions{})
		if err != nil || want.Error != "" || pixeltest.SHA(m) != want.SHA {
			t.Errorf("%s: %v, Pillow: %v", name, err, want.Error)
			continue
		}
		from, err := codec.DecodeFrom(bytes.NewReader(data), codec.DecodeOptions{})
		if err != nil || !bytes.Equal(from.Pix, m.Pix) {
			t.Errorf("%s: from a reader: %v", name, err)
		}
		img, err := codec.DecodeImage(bytes.NewReader(data), codec.DecodeOptions{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if back, err := pixel.FromImage(img); err != nil || !bytes.Equal(back.Pix, m.Pix) {
			t.Errorf("%s: from an image.Image: %v", name, err)
		}
		for _, at := range []image.Point{{}, {X: m.W - 1, Y: m.H - 1}, {X: m.W / 2, Y: m.H / 3}} {
			c := color.NRGBAModel.Convert(img.At(at.X, at.Y)).(color.NRGBA)
			if got := m.Pix[3*(at.Y*m.W+at.X):][:3]; !bytes.Equal(got, []byte{c.R, c.G, c.B}) || c.A != 255 {
				t.Errorf("%s at %v: %v, want %v", name, at, c, got)
			}
		}
	}
}

// What is encoded decodes to the same image.
func TestEncode(t *testing.T) {
	for _, m := range []*pixel.Image{
		pixeltest.TestImage(31, 17, 1, formats.Uint8), pixeltest.TestImage(31, 17, 2, formats.Uint8), pixeltest.TestImage(31, 17, 3, formats.Uint8),
		pixeltest.TestImage(31, 17, 4, formats.Uint8), pixeltest.TestImage(31, 17, 1, formats.Uint16), pixeltest.TestImage(31, 17, 4, formats.Uint16),
	} {
		var direct, viaImage bytes.Buffer
		o := codec.EncodeOptions{Encoding: formats.PNG}
		if err := errors.Join(codec.Encode(&direct, m, o), codec.EncodeImage(&viaImage, m.ToImage(), o)); err != nil {
			t.Fatal(err)
		}
		got, err := codec.Decode(direct.Bytes(), codec.DecodeOptions{Color: pixel.ColorKeep})
		if err != nil || got.C != m.C || got.DType != m.DType || !bytes.Equal(got.Pix, m.Pix) {
			t.Errorf("%d channels of %s: %v", m.C, m.DType, err)
		}
		if m.C != 2 && !bytes.Equal(direct.Bytes(), viaImage.Bytes()) {
			t.Errorf("%d channels of %s: an image.Image is encoded to other bytes", m.C, m.DType)
		}
		enc, h, err := codec.Inspect(direct.Bytes())
		if err != nil || enc != formats.PNG || h.H != 17 || h.W != 31 || h.C != m.C {
			t.Errorf("%s %+v, %v", enc, h, err)
		}
	}
	var b bytes.Buffer
	if err := codec.Encode(&b, pixeltest.TestImage(40, 30, 3, formats.Uint8), codec.EncodeOptions{Encoding: formats.JPEG}); err != nil {
		t.Fatal(err)
	}
	if m, err := codec.DecodeFrom(&b, codec.DecodeOptions{}); err != nil || m.W != 40 || m.H != 30 {
		t.Error(m, err)
	}
}

// endless is a reader that never ends.
type endless struct{ head []byte }

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.head)
	e.head = e.head[n:]
	return n + len(p[n:]), nil
}

// Readers that do not end, that fail or that hold no image end in an error.
func TestDecodeFromHostileReaders(t *testing.T) {
	jpegHead := []byte("\xff\xd8\xff\xe0")
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		r    io.Reader
		want error
	}{
		"endless":           {&endless{jpegHead}, pixel.ErrTooLarge},
		"endless, no image": {&endless{}, pixel.ErrNotImage},
		"empty":             {strings.NewReader(""), pixel.ErrTruncated},
		"text":              {strings.NewReader("hello"), pixel.ErrNotImage},
		"failing":           {io.MultiReader(bytes.NewReader(jpegHead), &failing{broken}), broken},
	} {
		if _, err := codec.DecodeFrom(c.r, codec.DecodeOptions{MaxBytes: 1 << 20}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

// Misuse is an error that names it.
func TestMisuse(t *testing.T) {
	var data bytes.Buffer
	good := pixeltest.TestImage(8, 6, 3, formats.Uint8)
	if err := codec.Encode(&data, good, codec.EncodeOptions{Encoding: formats.PNG}); err != nil {
		t.Fatal(err)
	}
	png := codec.EncodeOptions{Encoding: formats.PNG}
	decode := func(o codec.DecodeOptions) error { _, err := codec.Decode(data.Bytes(), o); return err }
	encode := func(m *pixel.Image, o codec.EncodeOptions) error { return codec.Encode(io.Discard, m, o) }
	for name, err := range map[string]error{
		"no data":         func() error { _, err := codec.Decode(nil, codec.DecodeOptions{}); return err }(),
		"color":           decode(codec.DecodeOptions{Color: "blue"}),
		"exif":            decode(codec.DecodeOptions{EXIF: "sideways"}),
		"mode":            decode(codec.DecodeOptions{Mode: "slow"}),
		"negative pixels": decode(codec.DecodeOptions{MaxPixels: -1}),
		"region outside":  decode(codec.DecodeOptions{Region: pixel.Rect{X: 5, Y: 5, W: 9, H: 9}}),
		"negative region": decode(codec.DecodeOptions{Region: pixel.Rect{X: -1, W: 2, H: 2}}),
		"too large":       decode(codec.DecodeOptions{MaxPixels: 10}),
		"zero image":      encode(&pixel.Image{}, png),
		"short pixels":    encode(&pixel.Image{H: 6, W: 8, C: 3, DType: formats.Uint8, Pix: make([]byte, 5)}, png),
		"no encoding":     encode(good, codec.EncodeOptions{}),
		"other encoding":  encode(good, codec.EncodeOptions{Encoding: formats.WebP}),
		"quality":         encode(good, codec.EncodeOptions{Encoding: formats.JPEG, Quality: 101}),
		"sampling":        encode(good, codec.EncodeOptions{Encoding: formats.JPEG, Sampling: "411"}),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// The texts of options read as they print.
func TestTexts(t *testing.T) {
	for _, s := range []string{"keep", "png", "raw", "jpeg:90", "jpeg:85:444:optimize:tile=8", "jpeg-tiled:8"} {
		var o codec.EncodeOptions
		if err := o.UnmarshalText([]byte(s)); err != nil || o.String() != s {
			t.Errorf("%q is %q, %v", s, o, err)
		}
	}
	was := codec.EncodeOptions{Encoding: formats.PNG}
	o := was
	if err := o.UnmarshalText([]byte("jpeg:0")); err == nil || o != was {
		t.Errorf("%v, %+v", err, o)
	}
	var m codec.Mode
	if err := m.UnmarshalText([]byte("slow")); err == nil || m.UnmarshalText([]byte("fast")) != nil || m != codec.Fast {
		t.Error(m, err)
	}
}
