package preprocess

import (
	"bytes"
	"errors"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// Pillow's file and ours may differ by library version, their pixels not.
func TestJPEGEqualsPillow(t *testing.T) {
	exact(t)
	p := startPillow(t)
	e, d := NewEncoder(), NewDecoder()
	defer e.Close()
	defer d.Close()
	identical, all := 0, 0
	for _, size := range [][2]int{{1, 1}, {16, 16}, {97, 61}, {341, 256}, {1000, 700}} {
		for _, c := range []int{1, 3} {
			for _, quality := range []int{1, 30, 75, 90, 100} {
				m := testImage(size[0], size[1], c, formats.Uint8)
				mode := map[int]string{1: "L", 3: "RGB"}[c]
				want := p.ask(ask{"op": "save", "mode": mode, "size": size, "pixels": m.Pix, "quality": quality})
				if want.Error != "" {
					t.Fatal(want.Error)
				}
				got, err := e.AppendJPEG(nil, m, quality)
				if err != nil {
					t.Fatal(err)
				}
				all++
				if bytes.Equal(got, want.Pixels) {
					identical++
				}
				var a, b Image
				if err := d.Decode(&a, &formats.Value{Data: got}, DecodeOptions{Color: ColorKeep}); err != nil {
					t.Fatal(err)
				}
				if err := d.Decode(&b, &formats.Value{Data: want.Pixels}, DecodeOptions{Color: ColorKeep}); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(a.Pix, b.Pix) {
					t.Errorf("%v %s quality %d: other pixels than in Pillow's file", size, mode, quality)
				}
			}
		}
	}
	t.Logf("%d of %d files are Pillow's byte for byte", identical, all)
}

func TestPNGRoundTrip(t *testing.T) {
	e, d := NewEncoder(), NewDecoder()
	defer e.Close()
	defer d.Close()
	for _, typ := range []formats.DType{formats.Uint8, formats.Uint16} {
		for c := 1; c <= 4; c++ {
			m := testImage(13, 11, c, typ)
			if c == 4 { // opaque: the channel must stay all the same
				n := typ.Size()
				for i := 3 * n; i < len(m.Pix); i += 4 * n {
					m.Pix[i], m.Pix[i+n-1] = 255, 255
				}
			}
			var v formats.Value
			if err := e.Encode(&v, m, Encode{Encoding: formats.PNG}, 0); err != nil {
				t.Fatal(err)
			}
			var got Image
			if err := d.Decode(&got, &v, DecodeOptions{Color: ColorKeep}); err != nil {
				t.Fatal(err)
			}
			if got.C != v.Shape[2] || got.DType != v.DType {
				t.Errorf("%d channels of %s: Shape says %v of %s, the file has %d of %s", c, typ, v.Shape, v.DType, got.C, got.DType)
			}
			if c != 2 && (got.C != c || !bytes.Equal(got.Pix, m.Pix)) {
				t.Errorf("%d channels of %s: other pixels", c, typ)
			}
			if c == 2 && (got.C != 4 || got.Pix[0] != m.Pix[0] || got.Pix[len(got.Pix)-1] != m.Pix[len(m.Pix)-1]) {
				t.Errorf("grey with alpha of %s: other pixels", typ)
			}
		}
	}
}

func TestEncodeErrors(t *testing.T) {
	e := NewEncoder()
	defer e.Close()
	short := testImage(4, 4, 3, formats.Uint8)
	short.Pix = short.Pix[:5]
	for name, m := range map[string]*Image{
		"alpha":         testImage(4, 4, 4, formats.Uint8),
		"16 bits":       testImage(4, 4, 1, formats.Uint16),
		"too wide":      testImage(65501, 1, 1, formats.Uint8),
		"no image":      {},
		"short":         short,
		"another dtype": {Pix: make([]byte, 4), H: 1, W: 1, C: 1, DType: formats.Float32},
	} {
		_, err := e.AppendJPEG(nil, m, 90)
		if !errors.Is(err, ErrUnsupported) && !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The encoder goes on after errors, and appends.
	out, err := e.AppendJPEG([]byte("x"), testImage(4, 4, 3, formats.Uint8), 90)
	if err != nil || out[0] != 'x' || CheckStructure(out[1:], formats.JPEG) != nil {
		t.Errorf("after errors: %q, %v", out, err)
	}
}
