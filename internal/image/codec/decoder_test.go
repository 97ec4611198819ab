package codec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// samePillow compares Decode's pixels with Pillow's. It returns false if neither reads the image.
func samePillow(t *testing.T, p *pixeltest.Pillow, d *Decoder, path, mode string, o DecodeOptions) bool {
	t.Helper()
	want := p.Ask(pixeltest.Ask{"op": "convert", "path": path, "mode": mode, "orient": o.EXIF == pixel.EXIFApply, "indices": o.Indices})
	var m pixel.Image
	err := d.Decode(&m, pixeltest.ReadValue(t, path), o)
	switch {
	case err != nil && want.Error == "":
		t.Errorf("%s %s: %v; Pillow reads it", filepath.Base(path), o.Color, err)
	case err == nil && want.Error != "":
		t.Errorf("%s %s: no error; Pillow %s", filepath.Base(path), o.Color, want.Error)
	case err == nil:
		shape := []int{m.H, m.W, m.C}
		if len(want.Shape) == 2 {
			want.Shape = append(want.Shape, 1)
		}
		if !slices.Equal(shape, want.Shape) || pixeltest.SHA(&m) != want.SHA {
			t.Errorf("%s %s: pixels differ from Pillow's: shape %v, Pillow %v", filepath.Base(path), o.Color, shape, want.Shape)
		}
	}
	return err == nil
}

func TestDecodeEqualsPillow(t *testing.T) {
	pixeltest.Exact(t)
	p := pixeltest.StartPillow(t)
	dir := t.TempDir()
	made := p.Ask(pixeltest.Ask{"op": "make", "dir": dir})
	if made.Error != "" {
		t.Fatal(made.Error)
	}
	makeSamplings(t, dir, &made.Names)
	d := NewDecoder()
	defer d.Close()
	for _, name := range made.Names {
		path := filepath.Join(dir, name)
		if !samePillow(t, p, d, path, "RGB", DecodeOptions{}) {
			t.Errorf("%s: neither reads it", name)
		}
		samePillow(t, p, d, path, "L", DecodeOptions{Color: pixel.ColorGray})
		samePillow(t, p, d, path, "RGB", DecodeOptions{Color: pixel.ColorRGB, EXIF: pixel.EXIFApply})
		if keepsChannels(name) {
			samePillow(t, p, d, path, "", DecodeOptions{Color: pixel.ColorKeep})
		}
		palette := strings.HasPrefix(name, "p") && strings.HasSuffix(name, ".png") && !strings.HasPrefix(name, "prog")
		if palette || strings.HasPrefix(name, "bit") || strings.HasPrefix(name, "fax") {
			samePillow(t, p, d, path, "", MaskOptions())
		}
	}
}

// Masks of few bits have the numbers of Pillow's arrays: 0 and 1 of single bits, and greys of 2 and 4 bits scaled to 255.
func TestMasksOfFewBitsEqualPillow(t *testing.T) {
	p := pixeltest.StartPillow(t)
	d := NewDecoder()
	defer d.Close()
	const w, h = 13, 5
	for _, bits := range []int{1, 2, 4} {
		for _, transparent := range []bool{false, true} {
			var rows []byte
			for y := range h {
				rows = append(rows, 0)
				for x := range (w*bits + 7) / 8 {
					rows = append(rows, byte(37*x+91*y))
				}
			}
			data := append([]byte(pngMagic), pixeltest.ChunkOf("IHDR", []byte{0, 0, 0, w, 0, 0, 0, h, byte(bits), pngGray, 0, 0, 0})...)
			if transparent {
				data = append(data, pixeltest.ChunkOf("tRNS", []byte{0, 1})...)
			}
			data = append(data, pixeltest.ChunkOf("IDAT", pixeltest.ZlibOf(rows))...)
			data = append(data, pixeltest.ChunkOf("IEND", nil)...)
			path := filepath.Join(t.TempDir(), fmt.Sprintf("%d-%t.png", bits, transparent))
			if err := os.WriteFile(path, data, 0o666); err != nil {
				t.Fatal(err)
			}
			samePillow(t, p, d, path, "", MaskOptions())
			samePillow(t, p, d, path, "RGB", DecodeOptions{})
			var whole, part pixel.Image
			o := MaskOptions()
			if err := d.Decode(&whole, &formats.Value{Data: data}, o); err != nil {
				t.Fatal(err)
			}
			o.Region = pixel.Rect{X: 2, Y: 1, W: 7, H: 3}
			if err := d.Decode(&part, &formats.Value{Data: data}, o); err != nil {
				t.Fatal(err)
			}
			var want pixel.Image
			if err := whole.Crop(&want, o.Region); err != nil || !bytes.Equal(part.Pix, want.Pix) {
				t.Errorf("%s: a region's pixels differ: %v", path, err)
			}
		}
	}
}

// keepsChannels reports whether ColorKeep has the channels of Pillow's array: not for indices and CMYK.
func keepsChannels(name string) bool {
	return !strings.HasPrefix(name, "cmyk") && !strings.HasPrefix(name, "ycck") && !strings.HasPrefix(name, "p-") &&
		!strings.HasPrefix(name, "p16") && !strings.HasPrefix(name, "p4") && !strings.HasPrefix(name, "ptrns")
}

// makeSamplings adds JPEGs that Pillow cannot write: other sampling factors and YCCK.
func makeSamplings(t *testing.T, dir string, names *[]string) {
	for _, name := range slices.Clone(*names) {
		kind, rest, _ := strings.Cut(name, "-")
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		out := ""
		switch kind {
		case "cmyk":
			// APP14: transform 2 means that the four components are YCCK.
			if i := bytes.Index(data, []byte("Adobe")); i > 0 {
				data[i+11] = 2
				out = "ycck-" + rest
			}
		case "sub1": // 2x1 blocks of luma read as 1x2: another picture, and a good 4:4:0
			reframe(data, 0x12, 8, 16)
			out = "sub440-" + rest
		case "sub2": // 2x2 read as 4x1
			reframe(data, 0x41, 32, 8)
			out = "sub411-" + rest
		}
		if out == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, out), data, 0o666); err != nil {
			t.Fatal(err)
		}
		*names = append(*names, out)
	}
}

// reframe changes the luma sampling of a JPEG, and its size so that it keeps its number of MCUs, now of w
// by h pixels.
func reframe(data []byte, sampling byte, w, h int) {
	f := data[frameAt(data):]
	oldH, oldW := int(binary.BigEndian.Uint16(f[5:])), int(binary.BigEndian.Uint16(f[7:]))
	mcuW, mcuH := 8*int(f[11]>>4), 8*int(f[11]&15)
	binary.BigEndian.PutUint16(f[5:], uint16(h*((oldH+mcuH-1)/mcuH)-oldH%h))
	binary.BigEndian.PutUint16(f[7:], uint16(w*((oldW+mcuW-1)/mcuW)-oldW%w))
	f[11] = sampling
}

// frameAt finds the baseline frame header.
func frameAt(data []byte) int { return bytes.Index(data, []byte{0xFF, 0xC0, 0, 17, 8}) }

func TestPhotosEqualPillow(t *testing.T) {
	pixeltest.Exact(t)
	p := pixeltest.StartPillow(t)
	d := NewDecoder()
	defer d.Close()
	step := 7
	if os.Getenv("DSCONV_EVERY_PHOTO") != "" {
		step = 1
	}
	paths := pixeltest.Photos(t)
	for i := 0; i < len(paths); i += step {
		samePillow(t, p, d, paths[i], "RGB", DecodeOptions{})
		if i%5 == 0 {
			samePillow(t, p, d, paths[i], "L", DecodeOptions{Color: pixel.ColorGray})
		}
	}
}

// Truncated and damaged photos are refused if Pillow refuses them, and otherwise have Pillow's pixels.
func TestDamagedEqualsPillow(t *testing.T) {
	pixeltest.Exact(t)
	p := pixeltest.StartPillow(t)
	d := NewDecoder()
	defer d.Close()
	dir := t.TempDir()
	made := p.Ask(pixeltest.Ask{"op": "make", "dir": dir})
	for i, name := range made.Names {
		if !strings.HasSuffix(name, "131x67.jpg") {
			continue
		}
		data := pixeltest.ReadValue(t, filepath.Join(dir, name)).Data
		for cut := 1; cut < 40; cut++ {
			path := filepath.Join(dir, "cut.jpg")
			n := len(data) - cut*cut
			if cut > 30 {
				n = len(data) * (cut - 30) / 10
			}
			if n < 0 {
				continue
			}
			os.WriteFile(path, data[:n], 0o666)
			samePillow(t, p, d, path, "RGB", DecodeOptions{})
			bad := bytes.Clone(data)
			at := (cut*7919 + i*31) % len(bad)
			bad[at] ^= byte(1 << (cut % 8))
			os.WriteFile(path, bad, 0o666)
			samePillow(t, p, d, path, "RGB", DecodeOptions{})
			if t.Failed() {
				t.Fatalf("%s with byte %d of %d changed to %#x: %q", name, at, len(bad), bad[at], d.Warning())
			}
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	d := NewDecoder()
	defer d.Close()
	e := NewEncoder()
	defer e.Close()
	m := pixeltest.TestImage(40, 30, 3, formats.Uint8)
	jpeg, err := e.AppendJPEG(nil, m, EncodeOptions{Quality: 90})
	if err != nil {
		t.Fatal(err)
	}
	png, err := e.appendPNG(nil, m)
	if err != nil {
		t.Fatal(err)
	}
	huge := bytes.Clone(jpeg)
	copy(huge[frameAt(huge)+5:], "\xff\xff\xff\xff")
	for _, c := range []struct {
		name string
		data []byte
		max  int
		want error
	}{
		{"no data", nil, 0, pixel.ErrTruncated},
		{"text", []byte("hello, this is no image at all, but long enough"), 0, pixel.ErrNotImage},
		{"JPEG cut", jpeg[:len(jpeg)/2], 0, pixel.ErrTruncated},
		{"JPEG without end", jpeg[:30], 0, pixel.ErrTruncated},
		{"PNG cut", png[:len(png)/2], 0, pixel.ErrTruncated},
		{"too large", jpeg, 40*30 - 1, pixel.ErrTooLarge},
		{"claims 4 gigapixels", huge, 1 << 40, pixel.ErrTruncated},
		{"claims 4 gigapixels, limit", huge, 1 << 20, pixel.ErrTruncated},
	} {
		var out pixel.Image
		err := d.Decode(&out, &formats.Value{Data: c.data}, DecodeOptions{MaxPixels: c.max})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if cap(out.Pix) > 1<<20 {
			t.Errorf("%s: %d bytes allocated", c.name, cap(out.Pix))
		}
	}
	// The decoder works after errors.
	var out pixel.Image
	if err := d.Decode(&out, &formats.Value{Data: jpeg}, DecodeOptions{MaxPixels: 40 * 30}); err != nil || out.W != 40 || out.H != 30 {
		t.Errorf("after errors: %dx%d, %v", out.W, out.H, err)
	}
}

// A JPEG without tables is not decoded with those of the image before it.
func TestDecodeForgetsTables(t *testing.T) {
	pixeltest.Exact(t) // image/jpeg takes no tables for tables of zeros
	d := NewDecoder()
	defer d.Close()
	jpeg, _ := encoded(t, 40, 30)
	var m pixel.Image
	if err := d.Decode(&m, &formats.Value{Data: jpeg}, DecodeOptions{}); err != nil {
		t.Fatal(err)
	}
	bad := bytes.ReplaceAll(jpeg, []byte("\xff\xdb"), []byte("\xff\xee")) // an APP14, which is skipped
	if err := d.Decode(&m, &formats.Value{Data: bad}, DecodeOptions{}); !errors.Is(err, pixel.ErrCorrupt) {
		t.Errorf("without quantisation tables: %v", err)
	}
}

func TestDecodeRaw(t *testing.T) {
	d, e := NewDecoder(), NewEncoder()
	defer d.Close()
	defer e.Close()
	for _, typ := range []formats.DType{formats.Uint8, formats.Uint16} {
		for c := 1; c <= 4; c++ {
			m := pixeltest.TestImage(9, 7, c, typ)
			for _, level := range []int{0, 3, 19} {
				var v formats.Value
				if err := e.Encode(&v, m, EncodeOptions{Encoding: formats.Raw}, level); err != nil {
					t.Fatal(err)
				}
				var out pixel.Image
				if err := d.Decode(&out, &v, DecodeOptions{Color: pixel.ColorKeep}); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(out.Pix, m.Pix) || out.H != 7 || out.W != 9 || out.C != c {
					t.Errorf("raw %s of %d channels, zstd %d: pixels differ", typ, c, level)
				}
				v.Shape[0]++
				if err := d.Decode(&out, &v, DecodeOptions{}); err == nil {
					t.Errorf("raw %s of %d channels, zstd %d: a wrong shape is no error", typ, c, level)
				}
			}
		}
	}
}

// samePixels checks that two images decode to the same pixels without warnings.
func samePixels(t testing.TB, d *Decoder, data, out []byte) {
	t.Helper()
	var want, got pixel.Image
	for _, o := range []DecodeOptions{{}, {Color: pixel.ColorKeep}, {EXIF: pixel.EXIFApply}} {
		err := d.Decode(&want, &formats.Value{Data: data}, o)
		warning := d.Warning()
		if err := errors.Join(err, d.Decode(&got, &formats.Value{Data: out}, o)); err != nil {
			t.Fatal(err)
		}
		if warning != "" || d.Warning() != "" {
			t.Fatalf("warnings %q, %q", warning, d.Warning())
		}
		if !slices.Equal(want.Pix, got.Pix) || want.H != got.H || want.W != got.W {
			t.Fatalf("pixels differ with %+v", o)
		}
	}
}

func decodeOne(d *Decoder, data []byte) (*pixel.Image, error) {
	var m pixel.Image
	return &m, d.Decode(&m, &formats.Value{Data: data}, DecodeOptions{})
}
