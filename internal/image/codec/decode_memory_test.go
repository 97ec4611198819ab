package codec

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/hostile"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Images with large claims are decoded or refused as too large, without memory beyond the Budget.
func TestHostileImagesAreTooLarge(t *testing.T) {
	d := NewDecoder()
	defer d.Close()
	var m pixel.Image
	for name, data := range map[string][]byte{
		"16 bits":  hostile.PNG(hostile.Side, hostile.Side, 16, hostile.RGBA),
		"lossless": hostile.WebP(16383, 10900),
	} {
		if err := d.Decode(&m, &formats.Value{Data: data}, DecodeOptions{Color: pixel.ColorKeep}); !errors.Is(err, pixel.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := d.Decode(&m, &formats.Value{Data: hostile.TIFF(1000, 1000, 1_000_000)}, DecodeOptions{Color: pixel.ColorKeep}); err != nil {
		t.Errorf("an intact TIFF: %v", err)
	}
}

// A zstd frame without a size is decompressed to as much memory as its shape takes, and no more.
func TestZstdFrameWithoutSize(t *testing.T) {
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 1<<20)
	for range 700 {
		if _, err := z.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	v := &formats.Value{Data: b.Bytes(), Encoding: formats.RawZstd, DType: formats.Uint8, Shape: []int{2, 2, 3}}
	d := NewDecoder()
	defer d.Close()
	before := allocatedNow()
	var m pixel.Image
	err = d.Decode(&m, v, DecodeOptions{})
	_, err2 := d.Elements(v)
	if err == nil || err2 == nil || !strings.Contains(err.Error(), "zstd") {
		t.Errorf("700 MB for 12 values: %v, %v", err, err2)
	}
	if n := allocatedNow() - before; n > 64<<20 {
		t.Errorf("%d MB were allocated", n>>20)
	}
	v.Shape = []int{1 << 20, 1 << 20}
	if _, err := d.Elements(v); !errors.Is(err, pixel.ErrTooLarge) {
		t.Errorf("a tensor of 2^40 elements: %v", err)
	}
}

func allocatedNow() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
