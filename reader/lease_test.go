package reader

import (
	"context"
	"errors"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader/augment"
)

// panicOf is the text with which f panics, "" if it does not.
func panicOf(f func()) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text, _ = r.(string)
		}
	}()
	f()
	return ""
}

// TestBatchesThatAreOver panic on the caller's goroutine, and change no other batch.
func TestBatchesThatAreOver(t *testing.T) {
	l := makeLoader(t, rawImages(60, 4, 4, 3), Config{BatchSize: 2, Workers: 2, Shuffle: true})
	want := collect(t, l, 0)
	over := map[string]*Batch{}
	k := 0
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		for name, old := range over {
			for call, f := range map[string]func(){
				"Keep": old.Keep, "Clone": func() { old.Clone() }, "Pixels": func() { Pixels[uint8](old) },
				"Labels": func() { Labels[int64](old) }, "TakeImages": func() { old.TakeImages() }, "ImageBytes": func() { old.ImageBytes() },
			} {
				if text := panicOf(f); !strings.Contains(text, call+" of a batch that is no longer valid") {
					t.Fatalf("%s of the batch %s: panic %q", call, name, text)
				}
			}
			old.Release()
			if old.Indices != nil || old.N != 2 {
				t.Fatalf("the batch %s still shows another's memory", name)
			}
		}
		switch k {
		case 0:
			over["of an earlier step"] = b
		case 1:
			b.Keep()
			b.Keep()
			b.Release()
			b.Release()
			over["that was released"] = b
		}
		if k != 1 && !reflect.DeepEqual(b.Clone(), want[k]) {
			t.Fatalf("batch %d is another one", k)
		}
		k++
	}
	for _, b := range want { // of Clone: the caller's
		b.Keep()
		b.Release()
		if len(Pixels[uint8](b)) != 96 || b.Clone() == nil {
			t.Fatal("a clone is not valid for ever")
		}
	}
	if k != 30 {
		t.Errorf("%d batches", k)
	}
}

func TestTypesOfElementsAreChecked(t *testing.T) {
	b := collect(t, makeLoader(t, rawImages(2, 4, 4, 3), Config{BatchSize: 2}), 0)[0]
	if text := panicOf(func() { Pixels[float32](b) }); !strings.Contains(text, "Pixels[float32]") || !strings.Contains(text, "use Pixels[uint8]") {
		t.Errorf("panic %q", text)
	}
	if text := panicOf(func() { Labels[uint8](b) }); !strings.Contains(text, "Labels[uint8]") || !strings.Contains(text, "use Labels[int64]") {
		t.Errorf("panic %q", text)
	}
}

// TestKeptBatchesOutliveTheRunAndTheLoader.
func TestKeptBatchesOutliveTheRunAndTheLoader(t *testing.T) {
	for _, allocate := range []Allocator{nil, func(size int) []byte { return make([]byte, size) }} {
		l, err := New(rawImages(60, 4, 4, 3), Config{BatchSize: 2, Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		want := collect(t, l, 0)
		r, err := l.StartWith(t.Context(), RunOptions{Allocate: allocate})
		if err != nil {
			t.Fatal(err)
		}
		var kept []*Batch
		for range 3 {
			b, err := r.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			b.Keep()
			kept = append(kept, b)
		}
		last, err := r.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r.Stop()
		collect(t, l, 1)
		last.Keep() // it is the loop's until Next
		kept = append(kept, last)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		for k, b := range kept {
			if !reflect.DeepEqual(b.Clone(), want[k]) {
				t.Errorf("kept batch %d changed", k)
			}
			b.Release()
			b.Release()
		}
	}
}

// TestLentMemoryIsNotUsedByOthers after a kept batch was released.
func TestLentMemoryIsNotUsedByOthers(t *testing.T) {
	l := makeLoader(t, rawImages(40, 4, 4, 3), Config{BatchSize: 2, Workers: 2})
	var blocks [][]byte
	r, err := l.StartWith(t.Context(), RunOptions{Allocate: func(size int) []byte {
		blocks = append(blocks, make([]byte, size))
		return blocks[len(blocks)-1]
	}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.Keep()
	r.Stop()
	b.Release()
	for _, block := range blocks {
		clear(block)
	}
	collect(t, l, 1)
	for _, block := range blocks {
		for _, x := range block {
			if x != 0 {
				t.Fatal("another epoch writes to the caller's memory")
			}
		}
	}
}

func TestNextAfterStop(t *testing.T) {
	l := makeLoader(t, rawImages(40, 4, 4, 3), Config{BatchSize: 2, Workers: 2})
	for taken := range 3 {
		r, err := l.Start(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		for range taken {
			if _, err := r.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		r.Stop()
		r.Stop()
		for range 2 {
			if b, err := r.Next(t.Context()); b != nil || !errors.Is(err, formats.ErrClosed) || !strings.Contains(err.Error(), "the run was stopped") {
				t.Errorf("after %d batches: %v, %v", taken, b, err)
			}
		}
	}
}

// TestNextOnTwoGoroutines: the second is an error, and Stop ends the first.
func TestNextOnTwoGoroutines(t *testing.T) {
	ds := &stuck{memory: rawImages(4, 2, 2, 3), release: make(chan struct{})}
	l := makeLoader(t, ds, Config{BatchSize: 4, Workers: 2, Transforms: augment.Train(2)})
	r, err := l.Start(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	first := make(chan error)
	go func() { _, err := r.Next(context.Background()); first <- err }()
	for l.asked.Load() == 0 {
		runtime.Gosched()
	}
	if _, err := r.Next(t.Context()); !errors.Is(err, errBusy) {
		t.Errorf("the second: %v", err)
	}
	stopped := make(chan struct{})
	go func() { r.Stop(); close(stopped) }()
	if err := <-first; !errors.Is(err, formats.ErrClosed) {
		t.Errorf("the first: %v", err)
	}
	close(ds.release)
	<-stopped
}

// TestContextEndsTheRun by itself: Next returns the cause, not the workers' interruption.
func TestContextEndsTheRun(t *testing.T) {
	l := makeLoader(t, photos(t, 60), Config{BatchSize: 2, Workers: 2, Transforms: augment.Train(16)})
	cause := errors.New("the server shuts down")
	ctx, cancel := context.WithCancelCause(t.Context())
	r, err := l.Start(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Stop()
	cancel(cause)
	r.running.workers.Wait() // without Next they cannot come to the end of the epoch
	for err == nil {
		_, err = r.Next(t.Context())
	}
	if !errors.Is(err, cause) {
		t.Errorf("error %v", err)
	}
	r.Stop()
	if _, err := r.Next(t.Context()); !errors.Is(err, cause) {
		t.Errorf("after Stop: %v", err)
	}
	if _, err := l.Start(ctx, 0); !errors.Is(err, cause) {
		t.Errorf("a start with a context that has ended: %v", err)
	}
}

// TestContextThatEndsAfterTheLastBatch is no error.
func TestContextThatEndsAfterTheLastBatch(t *testing.T) {
	l := makeLoader(t, rawImages(4, 4, 4, 3), Config{BatchSize: 4})
	ctx, cancel := context.WithCancel(t.Context())
	r, err := l.Start(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(ctx); err != nil {
		t.Fatal(err)
	}
	cancel()
	<-r.running.over
	if _, err := r.Next(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("error %v", err)
	}
	r.Stop()
}
