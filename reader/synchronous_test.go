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

// inCaller is a dataset that must be read in the goroutine of a test.
type inCaller struct {
	*memory
	t *testing.T
}

func (d inCaller) Read(i int, s *formats.Sample) error {
	buf := make([]byte, 1<<16)
	if stack := string(buf[:runtime.Stack(buf, false)]); !strings.Contains(stack, "testing.tRunner") {
		d.t.Errorf("sample %d is read in another goroutine:\n%s", i, stack)
	}
	return d.memory.Read(i, s)
}

// TestSynchronousLoadsInTheCaller, and nothing before it is asked for.
func TestSynchronousLoadsInTheCaller(t *testing.T) {
	ds := photos(t, 23)
	c := Config{BatchSize: 4, Shuffle: true, Transforms: augment.Train(8)}
	want := collect(t, makeLoader(t, ds, c), 1)
	c.Synchronous = true
	l := makeLoader(t, inCaller{ds, t}, c)
	if got := collect(t, l, 1); !reflect.DeepEqual(got, want) {
		t.Error("the batches are not those of workers")
	}
	r, err := l.Start(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Stop()
	for k := range 3 {
		ds.reads.Store(0)
		if b, err := r.Next(t.Context()); err != nil || !reflect.DeepEqual(b.Clone(), want[k]) {
			t.Errorf("batch %d is another one: %v", k, err)
		}
		if n := ds.reads.Load(); n != 4 {
			t.Errorf("batch %d: %d samples were read, want 4", k, n)
		}
	}
	if m, err := l.Estimate(t.Context()); err != nil || m.Workers == 0 || m.Batches != m.BatchBytes {
		t.Errorf("estimate %+v: %v", m, err)
	}
	if c := l.Config(); c.Workers != 0 || c.Prefetch != 0 || l.Slots() != 1 {
		t.Errorf("%d workers, prefetch %d, %d slots", c.Workers, c.Prefetch, l.Slots())
	}
}

// TestSynchronousErrors are those of workers, whatever OnError says.
func TestSynchronousErrors(t *testing.T) {
	for _, on := range []OnError{Fail, Skip, Substitute} {
		ds, _ := damaged(t, 40, 3, 9, 17, 18)
		c := Config{BatchSize: 4, Seed: 3, OnError: on, Transforms: augment.Train(8)}
		type outcome struct {
			batches []*Batch
			err     string
			times   int64
			bad     map[int]string
		}
		load := func(c Config) (o outcome) {
			l := makeLoader(t, ds, c)
			for b, err := range l.Epoch(t.Context(), 0) {
				if err != nil {
					o.err = err.Error()
				} else {
					o.batches = append(o.batches, b.Clone())
				}
			}
			times, bad := l.Bad()
			o.times, o.bad = times, map[int]string{}
			for _, b := range bad {
				o.bad[b.Index] = b.Err.Error()
			}
			return o
		}
		c.Workers = 1
		want := load(c)
		c.Workers, c.Synchronous = 0, true
		if got := load(c); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %d batches, error %q, bad %v; with a worker %d, %q, %v", on, len(got.batches), got.err, got.bad, len(want.batches), want.err, want.bad)
		}
		if (want.err == "") == (on == Fail) {
			t.Errorf("%s: error %q", on, want.err)
		}
	}
}

// ending is a dataset that calls end when a sample is read.
type ending struct {
	*memory
	sample int
	end    func()
}

func (d *ending) Read(i int, s *formats.Sample) error {
	if i == d.sample {
		d.end()
	}
	return d.memory.Read(i, s)
}

// TestSynchronousNextGoesOn where the context of the call before it ended: no sample is read twice.
func TestSynchronousNextGoesOn(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ds := &ending{memory: rawImages(12, 2, 2, 3), sample: 6, end: cancel}
	l := makeLoader(t, ds, Config{BatchSize: 4, Synchronous: true, Transforms: augment.Train(2)})
	r, err := l.Start(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Stop()
	if _, err := r.Next(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if n := ds.reads.Load(); n != 7 {
		t.Errorf("%d samples were read when the context ended, want 7", n)
	}
	if b, err := r.Next(t.Context()); err != nil || b.N != 4 || b.Indices[0] != 4 || b.End != 8 {
		t.Errorf("then %+v, %v", b, err)
	}
	if n := ds.reads.Load(); n != 8 {
		t.Errorf("%d samples were read, want 8", n)
	}
}

// TestSynchronousRunIsStopped by another goroutine in the middle of a batch: by Stop, Close, or the end of its
// context.
func TestSynchronousRunIsStopped(t *testing.T) {
	for name, want := range map[string]error{"stop": formats.ErrClosed, "close": formats.ErrClosed, "cancel": context.Canceled} {
		ctx, cancel := context.WithCancel(t.Context())
		ds := &ending{memory: rawImages(100, 2, 2, 3), sample: 5}
		l := makeLoader(t, ds, Config{BatchSize: 100, Synchronous: true, Transforms: augment.Train(2)})
		r, err := l.Start(ctx, 0)
		if err != nil {
			t.Fatal(err)
		}
		over := make(chan struct{})
		ds.end = func() {
			switch name {
			case "cancel":
				cancel()
				close(over)
			case "stop":
				go func() { defer close(over); r.Stop() }()
			case "close":
				go func() { defer close(over); _ = l.Close() }()
			}
			<-r.running.over // the run knows; whoever stops it waits for Next
		}
		if _, err := r.Next(t.Context()); !errors.Is(err, want) {
			t.Errorf("%s: error %v, want %v", name, err, want)
		}
		if n := ds.reads.Load(); n != 6 {
			t.Errorf("%s: %d samples were read, want 6", name, n)
		}
		<-over
		r.Stop()
		cancel()
		if _, err := r.Next(t.Context()); !errors.Is(err, want) || errors.Is(err, io.EOF) {
			t.Errorf("%s: then %v", name, err)
		}
	}
}

// TestSynchronousHasNoWorkers to set.
func TestSynchronousHasNoWorkers(t *testing.T) {
	for _, c := range []Config{{Workers: 1}, {Prefetch: 1}} {
		c.BatchSize, c.Synchronous = 1, true
		if _, err := New(rawImages(2, 2, 2, 3), c); err == nil || !strings.Contains(err.Error(), "both must be 0") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
