package preprocess

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/budget"
	inner "github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/internal/testing/hostile"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// wrongChecksum is a PNG of hostile.PNG whose pixels have a wrong checksum.
func wrongChecksum(png []byte) []byte {
	const head, tail = 8 + 25 + 4, 12 + 4 // bytes before and after those that the chunk's checksum covers
	end := len(png) - tail
	png[end-1] ^= 1
	binary.BigEndian.PutUint32(png[end:], crc32.ChecksumIEEE(png[head:end]))
	return png
}

// live is the memory in use.
func live() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A Decoder that waits for more memory first frees the buffers it has.
func TestWaitingFreesBuffers(t *testing.T) {
	const side = 6000
	v := &formats.Value{Data: wrongChecksum(hostile.PNG(side, side, 8, hostile.Gray))}
	d := inner.NewDecoder()
	defer d.Close()
	var m pixel.Image
	var others budget.Reservation
	before := live()
	others.Set(budget.Budget-2*side*side+1, nil) // there is res to decode, and none for what the damage takes
	done := make(chan error)
	go func() { done <- d.Decode(&m, v, inner.DecodeOptions{Color: pixel.ColorKeep}) }()
	for budget.Shared.TryAcquire(1) { // until the other one waits
		budget.Shared.Release(1)
		time.Sleep(time.Millisecond)
	}
	if now := live(); now > before+side*side/2 {
		t.Errorf("it holds %d MB", (now-before)>>20)
	}
	others.Release()
	if err := <-done; !errors.Is(err, pixel.ErrCorrupt) {
		t.Error(err)
	}
}

// Damage takes memory in addition to that of the intact image, with its region and orientation.
func TestDamageReservesMore(t *testing.T) {
	const w, h = 3600, 3000
	png := hostile.PNG(w, h, 8, hostile.RGB)
	const head = 8 + 25
	exif := []byte("MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00")
	e := inner.NewEncoder()
	defer e.Close()
	photo, err := e.AppendJPEG(nil, &pixel.Image{Pix: make([]byte, 3*w*h), H: h, W: w, C: 3, DType: formats.Uint8}, inner.Encode{Quality: 90})
	if err != nil {
		t.Fatal(err)
	}
	copy(photo[len(photo)/2:], "\xff\xd3")
	for name, c := range map[string]struct {
		data    []byte
		region  pixel.Rect
		minimum int64 // bytes per pixel
	}{
		"transparent colour": {slices.Concat(png[:head], inner.AppendChunk(nil, "tRNS", make([]byte, 6)), inner.AppendChunk(nil, "eXIf", exif), png[head:]), pixel.Rect{}, 4 + 2*3},
		"damaged region":     {pixeltest.WithOrientation(photo, 6), pixel.Rect{W: h - 8, H: w - 8}, 3*3 - 1},
	} {
		if name == "damaged region" && !jpeg.HasLibjpegTurbo {
			continue // the standard library decodes no damaged JPEG
		}
		var res budget.Reservation
		var m pixel.Image
		d := inner.NewDecoder()
		defer d.Close()
		o := inner.DecodeOptions{ApplyOrientation: true, Region: c.region, Reservation: &res}
		if err := d.Decode(&m, &formats.Value{Data: c.data}, o); err != nil || d.Header().Orientation != 6 {
			t.Fatalf("%s: %v", name, err)
		}
		if res.Taken+budget.Allowance(len(c.data)) < c.minimum*w*h {
			t.Errorf("%s: %d bytes reserved, the pixels alone take %d", name, res.Taken, c.minimum*w*h)
		}
		res.Release()
	}
}
