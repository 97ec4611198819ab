//go:build cgo

package preprocess

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// asLibjpeg decodes data with our Huffman decoder and with libjpeg alone, and compares.
func asLibjpeg(t *testing.T, d *jpegDecoder, data []byte, q jpegRequest) {
	t.Helper()
	var got, want Image
	gotWarning, gotErr := d.decode(&got, data, q)
	q.libjpegOnly = true
	wantWarning, wantErr := d.decode(&want, data, q)
	switch {
	case (gotErr == nil) != (wantErr == nil), errors.Is(gotErr, ErrTruncated) != errors.Is(wantErr, ErrTruncated):
		t.Fatalf("%+v: %v, by libjpeg %v", q, gotErr, wantErr)
	case gotWarning != wantWarning:
		t.Fatalf("%+v: warning %q, by libjpeg %q", q, gotWarning, wantWarning)
	case gotErr == nil && !bytes.Equal(got.Pix, want.Pix):
		t.Fatalf("%+v: differs from libjpeg's: %s", q, firstDifference(&got, &want))
	}
}

// Our Huffman decoder equals libjpeg's for intact images, for damaged ones and for truncated ones.
func TestScanEqualsLibjpeg(t *testing.T) {
	var d jpegDecoder
	defer d.close()
	for name, data := range regionFiles(t) {
		_, h, err := Inspect(data)
		if err != nil {
			t.Fatal(err)
		}
		q := jpegRequest{w: h.W, h: h.H, channels: 3, scale: 1, region: Rect{W: h.W, H: h.H}}
		part := q
		part.region = Rect{X: 20, Y: 20, W: 17, H: 15}
		try := func(data []byte) {
			t.Helper()
			asLibjpeg(t, &d, data, q)
		}
		asLibjpeg(t, &d, data, part)
		try(data)
		for n := len(data) - 1; n > 0; n -= 7 {
			try(data[:n])
			try(append(bytes.Clone(data[:n]), 0xFF, markEOI))
		}
		for i := 0; i < 8*len(data); i += 37 {
			try(changed(data, i/8, data[i/8]^1<<(i%8)))
		}
		if t.Failed() {
			t.Fatalf("in %s", name)
		}
	}
}

// Our Huffman decoder equals libjpeg's for real photos.
func TestScanOfPhotos(t *testing.T) {
	var d jpegDecoder
	defer d.close()
	for i, path := range photos(t) {
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
		asLibjpeg(t, &d, data, jpegRequest{w: h.W, h: h.H, channels: 3, scale: 1, region: Rect{W: h.W, H: h.H}})
	}
}

func FuzzScan(f *testing.F) {
	for _, data := range regionFiles(f) {
		f.Add(data)
	}
	var d jpegDecoder
	f.Cleanup(d.close)
	f.Fuzz(func(t *testing.T, data []byte) {
		_, h, err := Inspect(data)
		if err != nil || h.W*h.H > 1<<20 {
			return
		}
		asLibjpeg(t, &d, data, jpegRequest{w: h.W, h: h.H, channels: 3, scale: 1, region: Rect{W: h.W, H: h.H}})
	})
}
