package codec

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// encoded returns the same image as JPEG and PNG.
func encoded(t testing.TB, w, h int) (jpeg, png []byte) {
	t.Helper()
	e := NewEncoder()
	defer e.Close()
	m := pixeltest.TestImage(w, h, 3, formats.Uint8)
	jpeg, err := e.AppendJPEG(nil, m, EncodeOptions{Quality: 90})
	if err != nil {
		t.Fatal(err)
	}
	png, err = e.appendPNG(nil, m)
	if err != nil {
		t.Fatal(err)
	}
	return jpeg, png
}

// structureError is CheckStructure's error alone.
func structureError(data []byte, enc formats.Encoding) error {
	_, err := CheckStructure(data, enc)
	return err
}

func TestCheckStructure(t *testing.T) {
	jpeg, png := encoded(t, 50, 40)
	flipped := bytes.Clone(png)
	flipped[len(png)/2] ^= 4
	for _, c := range []struct {
		name string
		data []byte
		enc  formats.Encoding
		want error
	}{
		{"JPEG", jpeg, formats.JPEG, nil},
		{"JPEG and more", append(bytes.Clone(jpeg), "trailing\xff\xd8\xff"...), formats.JPEG, nil},
		{"JPEG called PNG", jpeg, formats.PNG, pixel.ErrCorrupt},
		{"nothing", nil, formats.JPEG, pixel.ErrTruncated},
		{"zeros", make([]byte, 4096), formats.JPEG, pixel.ErrNotImage},
		{"JPEG's start alone", []byte("\xff\xd8\xff\xe0"), formats.JPEG, pixel.ErrTruncated},
		{"JPEG without scan", []byte("\xff\xd8\xff\xd9"), formats.JPEG, pixel.ErrCorrupt},
		{"PNG", png, formats.PNG, nil},
		{"PNG and more", append(bytes.Clone(png), 1, 2, 3), formats.PNG, nil},
		{"PNG with a flipped bit", flipped, formats.PNG, pixel.ErrCorrupt},
		{"raw", []byte{1}, formats.Raw, nil},
	} {
		if err := structureError(c.data, c.enc); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	for n := range len(jpeg) {
		if err := structureError(jpeg[:n], formats.JPEG); !errors.Is(err, pixel.ErrTruncated) && n > 2 {
			t.Fatalf("JPEG cut to %d of %d bytes: %v", n, len(jpeg), err)
		}
	}
	for n := range len(png) {
		if err := structureError(png[:n], formats.PNG); !errors.Is(err, pixel.ErrTruncated) && n > 7 {
			t.Fatalf("PNG cut to %d of %d bytes: %v", n, len(png), err)
		}
	}
}

func TestPhotosAreIntact(t *testing.T) {
	for i, path := range pixeltest.Photos(t) {
		if i%5 != 0 {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := structureError(data, formats.JPEG); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestInspectAllocatesNothing(t *testing.T) {
	jpeg, png := encoded(t, 50, 40)
	for _, data := range [][]byte{jpeg, png} {
		n := testing.AllocsPerRun(20, func() {
			enc, h, err := Inspect(data)
			if err != nil || h.W != 50 || h.H != 40 || h.C != 3 || structureError(data, enc) != nil {
				t.Errorf("%s: %+v, %v", enc, h, err)
			}
		})
		if n != 0 {
			t.Errorf("%.0f allocations", n)
		}
	}
}

// seeds are small files of every encoding.
func seeds(f *testing.F) {
	for i, o := range pixeltest.IrregularImages(f) {
		if i%17 == 0 && len(o.Data) < 10_000 {
			f.Add(o.Data)
		}
	}
	jpeg, png := encoded(f, 9, 7)
	f.Add(jpeg)
	f.Add(png)
	f.Add([]byte("GIF89a\x02\x00\x02\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00,\x00\x00\x00\x00\x02\x00\x02\x00\x00\x02\x02\x84Q\x00;"))
	f.Add([]byte("BM\x3a\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x01\x00\x18\x00" +
		"\x00\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x02\x03\x00"))
	f.Add([]byte("II*\x00\x08\x00\x00\x00\x02\x00\x00\x01\x03\x00\x01\x00\x00\x00\x05\x00\x00\x00\x01\x01\x03\x00\x01\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00"))
}

func FuzzInspect(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		enc, h, err := Inspect(data)
		if err == nil && (h.H <= 0 || h.W <= 0 || h.C < 1 || h.C > 4 || h.Orientation < 1 || h.Orientation > 8 || enc == "") {
			t.Errorf("%s: %+v", enc, h)
		}
	})
}

func FuzzCheckStructure(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		enc := formats.Sniff(data)
		if err := structureError(data, enc); err == nil {
			if _, _, err := Inspect(data); err != nil && enc != "" {
				t.Errorf("valid, but Inspect: %v", err)
			}
		}
	})
}

// Decoded images have the header's shape, and a second decoder gives the same pixels.
func FuzzDecode(f *testing.F) {
	seeds(f)
	d, other := NewDecoder(), NewDecoder()
	f.Cleanup(d.Close)
	f.Fuzz(func(t *testing.T, data []byte) {
		var m, again pixel.Image
		v := &formats.Value{Data: data}
		o := DecodeOptions{Color: pixel.ColorKeep, MaxPixels: 1 << 16}
		if err := d.Decode(&m, v, o); err != nil {
			return
		}
		_, h, err := Inspect(data)
		if err != nil || m.H != h.H || m.W != h.W || m.C != h.C || m.DType != h.DType || m.Check() != nil {
			t.Errorf("%dx%dx%d %s where the header says %+v (%v)", m.H, m.W, m.C, m.DType, h, err)
		}
		err = other.Decode(&again, v, o)
		other.Close()
		if err != nil || !bytes.Equal(m.Pix, again.Pix) {
			t.Errorf("a fresh decoder gives something else: %v", err)
		}
	})
}
