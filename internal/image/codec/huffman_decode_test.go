//go:build cgo

package codec

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// asLibjpeg decodes data with our Huffman decoder and with libjpeg alone, and compares.
func asLibjpeg(t *testing.T, d *jpeg.Decoder, data []byte, q jpeg.Request) {
	t.Helper()
	var got, want pixel.Image
	gotWarning, gotErr := d.Decode(&got, data, q)
	q.LibjpegOnly = true
	wantWarning, wantErr := d.Decode(&want, data, q)
	switch {
	case (gotErr == nil) != (wantErr == nil), errors.Is(gotErr, pixel.ErrTruncated) != errors.Is(wantErr, pixel.ErrTruncated):
		t.Fatalf("%+v: %v, by libjpeg %v", q, gotErr, wantErr)
	case gotWarning != wantWarning:
		t.Fatalf("%+v: warning %q, by libjpeg %q", q, gotWarning, wantWarning)
	case gotErr == nil && !bytes.Equal(got.Pix, want.Pix):
		t.Fatalf("%+v: differs from libjpeg's: %s", q, firstDifference(&got, &want))
	}
}

// Our Huffman decoder equals libjpeg's for intact images, for damaged ones and for truncated ones.
func TestScanEqualsLibjpeg(t *testing.T) {
	var d jpeg.Decoder
	defer d.Close()
	for name, data := range regionFiles(t) {
		_, h, err := Inspect(data)
		if err != nil {
			t.Fatal(err)
		}
		q := jpeg.Request{W: h.W, H: h.H, Channels: 3, Scale: 1, Region: pixel.Rect{W: h.W, H: h.H}}
		part := q
		part.Region = pixel.Rect{X: 20, Y: 20, W: 17, H: 15}
		try := func(data []byte) {
			t.Helper()
			asLibjpeg(t, &d, data, q)
		}
		asLibjpeg(t, &d, data, part)
		try(data)
		step := 1
		if testing.Short() {
			step = 3
		}
		for n := len(data) - 1; n > 0; n -= 7 * step {
			try(data[:n])
			try(append(bytes.Clone(data[:n]), 0xFF, jpeg.MarkEOI))
		}
		for i := 0; i < 8*len(data); i += 37 * step {
			try(pixeltest.Changed(data, i/8, data[i/8]^1<<(i%8)))
		}
		if t.Failed() {
			t.Fatalf("in %s", name)
		}
	}
}

// Our Huffman decoder equals libjpeg's for real photos.
func TestScanOfPhotos(t *testing.T) {
	var d jpeg.Decoder
	defer d.Close()
	for i, path := range pixeltest.Photos(t) {
		if i%20 != 0 {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, h, err := Inspect(data)
		if err != nil {
			t.Fatalf("%s: %v", filepath.Base(path), err)
		}
		asLibjpeg(t, &d, data, jpeg.Request{W: h.W, H: h.H, Channels: 3, Scale: 1, Region: pixel.Rect{W: h.W, H: h.H}})
	}
}

func FuzzScan(f *testing.F) {
	for _, data := range regionFiles(f) {
		f.Add(data)
	}
	var d jpeg.Decoder
	f.Cleanup(d.Close)
	f.Fuzz(func(t *testing.T, data []byte) {
		_, h, err := Inspect(data)
		if err != nil || h.W*h.H > 1<<20 {
			return
		}
		asLibjpeg(t, &d, data, jpeg.Request{W: h.W, H: h.H, Channels: 3, Scale: 1, Region: pixel.Rect{W: h.W, H: h.H}})
	})
}
