package preprocess

import (
	"runtime"
	"testing"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/budget"
	inner "github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// damagedPhoto returns a JPEG of w by h pixels with a restart marker in the wrong place.
func damagedPhoto(t *testing.T, w, h int) []byte {
	t.Helper()
	if !jpeg.HasLibjpegTurbo {
		t.Skip("the standard library decodes no damaged JPEG")
	}
	e := inner.NewEncoder()
	defer e.Close()
	photo, err := e.AppendJPEG(nil, &pixel.Image{Pix: make([]byte, 3*w*h), H: h, W: w, C: 3, DType: formats.Uint8}, inner.EncodeOptions{Quality: 90})
	if err != nil {
		t.Fatal(err)
	}
	copy(photo[len(photo)/2:], "\xff\xd3")
	return photo
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
	const w, h = 3600, 3000
	v := &formats.Value{Data: damagedPhoto(t, w, h)}
	d := inner.NewDecoder()
	defer d.Close()
	var m pixel.Image
	var others budget.Reservation
	before := live()
	others.Set(budget.Budget-5*w*h, nil) // there is room to decode, and none for what the damage takes
	done := make(chan error, 1)
	go func() {
		done <- d.Decode(&m, v, inner.DecodeOptions{Color: pixel.ColorRGB, Region: pixel.Rect{W: w - 8, H: h - 8}})
	}()
	for budget.Shared.TryAcquire(1) { // until the other one waits
		budget.Shared.Release(1)
		time.Sleep(time.Millisecond)
		if len(done) > 0 {
			t.Fatal("it does not wait: ", <-done)
		}
	}
	if now := live(); now > before+w*h {
		t.Errorf("it holds %d MB", (now-before)>>20)
	}
	others.Release()
	if err := <-done; err != nil || d.Warning() == "" {
		t.Error(err, d.Warning())
	}
}

// Damage takes memory in addition to that of the intact image, with its region and orientation.
func TestDamageReservesMore(t *testing.T) {
	const w, h = 3600, 3000
	photo := pixeltest.WithOrientation(damagedPhoto(t, w, h), 6)
	var res budget.Reservation
	var m pixel.Image
	d := inner.NewDecoder()
	defer d.Close()
	d.Reservation = &res
	o := inner.DecodeOptions{EXIF: pixel.EXIFApply, Region: pixel.Rect{W: h - 8, H: w - 8}}
	if err := d.Decode(&m, &formats.Value{Data: photo}, o); err != nil || d.Header().Orientation != 6 {
		t.Fatal(err)
	}
	if res.Taken+budget.Allowance(len(photo)) < (3*3-1)*w*h {
		t.Errorf("%d bytes reserved, the pixels alone take %d", res.Taken, (3*3-1)*w*h)
	}
	res.Release()
}
