package reader

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// panicking panics where some samples are read.
type panicking struct {
	*memory
	at map[int]bool
}

func (d panicking) Read(i int, s *formats.Sample) error {
	if d.at[i] {
		panic("a bug")
	}
	return d.memory.Read(i, s)
}

// TestPanicIsTheSamplesError: it names the key and the place, and OnError applies.
func TestPanicIsTheSamplesError(t *testing.T) {
	ds := panicking{rawImages(30, 4, 4, 3), map[int]bool{7: true, 20: true}}
	for _, on := range []OnError{Fail, Skip, Substitute} {
		l := makeLoader(t, ds, Config{BatchSize: 5, Workers: 3, OnError: on})
		n, failed := 0, error(nil)
		for b, err := range l.Epoch(t.Context(), 0) {
			if failed = err; err == nil {
				n += b.N
			}
		}
		times, samples := l.Bad()
		switch {
		case on == Fail && failed == nil, on != Fail && failed != nil:
			t.Errorf("%s: %v", on, failed)
		case on == Skip && n != 28, on == Substitute && n != 30, on == Skip && times != 2:
			t.Errorf("%s: %d samples, %d were bad", on, n, times)
		}
		for _, s := range samples {
			if failed = s.Err; !ds.at[s.Index] {
				t.Errorf("%s: sample %d is bad: %v", on, s.Index, s.Err)
			}
		}
		key := ds.samples[7].Key
		if text := failed.Error(); on == Fail && !strings.Contains(text, key) || !strings.Contains(text, "a bug") || !strings.Contains(text, "panic_test.go") {
			t.Errorf("%s: %v", on, failed)
		}
		b := new(Batch)
		if err := l.At(20, b); err == nil || !strings.Contains(err.Error(), ds.samples[20].Key) {
			t.Errorf("%s: a single sample: %v", on, err)
		}
	}
}

// TestStoppedAfterAPanic: what replaces a worker's decoder can be stopped inside an image too.
func TestStoppedAfterAPanic(t *testing.T) {
	l := makeLoader(t, rawImages(2, 4, 4, 3), Config{BatchSize: 1, Workers: 1})
	w := l.acquire()
	defer l.release(w)
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewRGBA(image.Rect(0, 0, 600, 400))); err != nil {
		t.Fatal(err)
	}
	var stop pixel.Stop
	w.stopBy(&stop)
	w.renew()
	stop.Set()
	var m pixel.Image
	err := w.decoder.Decode(&m, &formats.Value{Data: picture.Bytes()}, codec.DecodeOptions{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("an image was decoded after the run was stopped: %v", err)
	}
}
