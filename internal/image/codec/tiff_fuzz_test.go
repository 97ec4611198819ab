package codec

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// tiffs returns a TIFF of each kind that libtiff decodes: some of those that preprocess/testdata/tiffs.py writes.
func tiffs(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "tiff", "*.tif"))
	if err != nil || len(paths) < 20 {
		t.Fatalf("%d TIFFs, %v", len(paths), err)
	}
	all := map[string][]byte{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(path)] = data
	}
	return all
}

// decodeBoth decodes what claims to be a TIFF, as each color, and compares the pixels with the header, and with those of
// another decoder. It returns the last error.
func decodeBoth(t *testing.T, d *Decoder, data []byte) (failed error) {
	for _, color := range []pixel.Color{pixel.ColorKeep, pixel.ColorRGB, pixel.ColorGray} {
		var m, again pixel.Image
		v := &formats.Value{Data: data}
		o := DecodeOptions{Color: color, MaxPixels: 1 << 16}
		if err := d.Decode(&m, v, o); err != nil {
			failed = err
			continue
		}
		_, h, err := Inspect(data)
		if err != nil || m.H != h.H || m.W != h.W || color == pixel.ColorKeep && (m.C != h.C || m.DType != h.DType) || m.Check() != nil {
			t.Errorf("%dx%dx%d %s where the header says %+v (%v)", m.H, m.W, m.C, m.DType, h, err)
		}
		other := NewDecoder()
		err = other.Decode(&again, v, o)
		other.Close()
		if err != nil || !bytes.Equal(m.Pix, again.Pix) {
			t.Errorf("a fresh decoder gives something else: %v", err)
		}
	}
	return failed
}

// What libtiff makes of any bytes is an image of the header's shape, the same each time, or an error.
func FuzzTIFF(f *testing.F) {
	for _, data := range tiffs(f) {
		f.Add(data)
	}
	d := NewDecoder()
	f.Cleanup(d.Close)
	f.Fuzz(func(t *testing.T, data []byte) {
		if formats.Sniff(data) == formats.TIFF {
			_ = decodeBoth(t, d, data)
		}
	})
}

// libtiff prints nothing about damaged files: what it says is in the error.
func TestLibtiffPrintsNothing(t *testing.T) {
	if !jpeg.HasLibjpegTurbo {
		t.Skip("this build has no libtiff")
	}
	d := NewDecoder()
	defer d.Close()
	said := 0
	printed := stderrOf(t, func() {
		for _, data := range tiffs(t) {
			for at := 8; at < len(data); at += 1 + len(data)/40 {
				changed := bytes.Clone(data)
				changed[at] ^= 0x55
				if err := decodeBoth(t, d, changed); err != nil && bytes.Contains([]byte(err.Error()), []byte("libtiff")) {
					said++
				}
				_ = decodeBoth(t, d, data[:at])
			}
		}
	})
	if len(printed) > 0 {
		t.Errorf("printed: %.300q", printed)
	}
	if said < 20 {
		t.Errorf("libtiff refused only %d", said)
	}
}

// stderrOf returns what f writes to the standard error of the process, C code included.
func stderrOf(t *testing.T, f func()) []byte {
	t.Helper()
	file, err := os.CreateTemp(t.TempDir(), "stderr")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	before, err := unix.Dup(2)
	if err == nil {
		err = unix.Dup2(int(file.Fd()), 2)
	}
	if err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() { err = errors.Join(unix.Dup2(before, 2), unix.Close(before)) }()
		f()
	}()
	printed, readErr := os.ReadFile(file.Name())
	if err = errors.Join(err, readErr); err != nil {
		t.Fatal(err)
	}
	return printed
}
