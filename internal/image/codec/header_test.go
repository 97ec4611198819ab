package codec

import (
	"bytes"
	"image"
	"image/png"
	"path/filepath"
	"strings"
	"testing"

	"github.com/disintegration/imaging"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Every synthetic file's header equals that of decoding, and its orientation the one written.
func TestHeaders(t *testing.T) {
	p := pixeltest.StartPillow(t)
	dir := t.TempDir()
	made := p.Ask(pixeltest.Ask{"op": "make", "dir": dir})
	if made.Error != "" {
		t.Fatal(made.Error)
	}
	d := NewDecoder()
	defer d.Close()
	for _, name := range made.Names {
		v := pixeltest.ReadValue(t, filepath.Join(dir, name))
		_, h, err := Inspect(v.Data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := structureError(v.Data, v.Encoding); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var m pixel.Image
		if err := d.Decode(&m, v, DecodeOptions{Color: pixel.ColorKeep}); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if m.H != h.H || m.W != h.W || m.C != h.C || m.DType != h.DType {
			t.Errorf("%s: %dx%dx%d %s, its header says %+v", name, m.H, m.W, m.C, m.DType, h)
		}
		want := 1
		if number, ok := strings.CutPrefix(name, "exif"); ok {
			want = int(number[0] - '0')
		}
		if h.Orientation != want {
			t.Errorf("%s: orientation %d, want %d", name, h.Orientation, want)
		}
	}
}

// The package imaging is the reference for orientations.
func TestOrientEqualsImaging(t *testing.T) {
	e := NewEncoder()
	defer e.Close()
	for _, c := range []int{1, 3, 4} {
		src := pixeltest.TestImage(5, 3, c, formats.Uint8)
		data, err := e.appendPNG(nil, src)
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		for o, want := range map[int]image.Image{
			1: imaging.Clone(img), 2: imaging.FlipH(img), 3: imaging.Rotate180(img), 4: imaging.FlipV(img),
			5: imaging.Transpose(img), 6: imaging.Rotate270(img), 7: imaging.Transverse(img), 8: imaging.Rotate90(img),
		} {
			checkOriented(t, src, o, want)
		}
	}
}

func TestOrient16(t *testing.T) {
	src := pixeltest.TestImage(5, 3, 3, formats.Uint16)
	var once, back pixel.Image
	for o, undo := range []int{1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 8, 7: 7, 8: 6} {
		if o == 0 {
			continue
		}
		pixel.Orient(&once, src, o)
		pixel.Orient(&back, &once, undo)
		if string(back.Pix) != string(src.Pix) || back.W != 5 {
			t.Errorf("orientation %d and back are not the same pixels", o)
		}
	}
}

// A box of one pixel moves with that pixel.
func TestOrientBox(t *testing.T) {
	for o := 1; o <= 8; o++ {
		src, dst := &pixel.Image{}, &pixel.Image{}
		src.Reset(3, 5, 1, formats.Uint8)
		clear(src.Pix)
		src.Pix[1*5+3] = 1
		pixel.Orient(dst, src, o)
		b := pixel.OrientBox([4]float32{3, 1, 4, 2}, 3, 5, o)
		x, y := int(b[0]), int(b[1])
		if b[2] != b[0]+1 || b[3] != b[1]+1 || dst.Pix[y*dst.W+x] != 1 {
			t.Errorf("orientation %d: box %v in %v", o, b, dst.Pix)
		}
	}
}

func checkOriented(t *testing.T, src *pixel.Image, o int, want image.Image) {
	t.Helper()
	var got, expect pixel.Image
	pixel.Orient(&got, src, o)
	b := want.Bounds()
	if err := pixeltest.ReadImage(&expect, want, pixel.Header{H: b.Dy(), W: b.Dx(), C: src.C, DType: src.DType}); err != nil {
		t.Fatal(err)
	}
	if got.H != expect.H || got.W != expect.W || !bytes.Equal(got.Pix, expect.Pix) {
		t.Errorf("orientation %d of %d channels differs from imaging's", o, src.C)
	}
}
