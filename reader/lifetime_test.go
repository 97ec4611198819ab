package reader

import (
	"context"
	"errors"
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/forgotten"
	"github.com/dsconv/dsconv/reader/augment"
)

// refusing is a dataset that fails when it is used after Close.
type refusing struct {
	*memory
	shut atomic.Bool
	late atomic.Int64 // uses after Close
}

func (d *refusing) Info(i int) (formats.Info, error) {
	if d.shut.Load() {
		d.late.Add(1)
	}
	return d.memory.Info(i)
}

func (d *refusing) Read(i int, s *formats.Sample) error {
	if d.shut.Load() {
		d.late.Add(1)
	}
	return d.memory.Read(i, s)
}

func (d *refusing) Close() error {
	if d.shut.Swap(true) {
		return errors.New("closed twice")
	}
	return nil
}

// opener opens one dataset under any path.
type opener struct{ ds formats.Dataset }

func (opener) Name() string                           { return "memory" }
func (opener) Match(string) bool                      { return true }
func (f opener) Open(string) (formats.Dataset, error) { return f.ds, nil }

func openRefusing(t *testing.T, n int, c Config) (*Loader, *refusing) {
	t.Helper()
	ds := &refusing{memory: rawImages(n, 4, 4, 3)}
	l, err := Open(formats.Registry{opener{ds}}, "x.lmdb", c)
	if err != nil {
		t.Fatal(err)
	}
	return l, ds
}

// TestCloseInTheLoopsBody ends the epoch with ErrClosed; the batch of the body stays.
func TestCloseInTheLoopsBody(t *testing.T) {
	l, ds := openRefusing(t, 400, Config{BatchSize: 2, Workers: 3, Prefetch: 3, Shuffle: true})
	bodies := 0
	for b, err := range l.Epoch(t.Context(), 0) {
		if bodies++; bodies == 2 {
			if b != nil || !errors.Is(err, formats.ErrClosed) || !strings.Contains(err.Error(), "x.lmdb") {
				t.Errorf("the next step gives %v", err)
			}
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		before := b.Clone()
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if !ds.shut.Load() {
			t.Error("Close leaves the dataset open")
		}
		if !reflect.DeepEqual(b.Clone(), before) {
			t.Error("Close changed the batch that the loop has")
		}
	}
	if bodies != 2 {
		t.Errorf("%d bodies", bodies)
	}
	if err := l.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
	if n := ds.late.Load(); n > 0 {
		t.Errorf("the dataset was used %d times after Close", n)
	}
}

// TestAfterClose everything that needs the dataset is ErrClosed, and the rest works.
func TestAfterClose(t *testing.T) {
	l, ds := openRefusing(t, 10, Config{BatchSize: 2})
	run, err := l.Start(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	state := l.StateAt(0, 2)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	first := func(l *Loader, s State) error {
		for _, err := range l.Resume(ctx, s) {
			return err
		}
		return nil
	}
	for name, call := range map[string]func() error{
		"Next":      func() error { _, err := run.Next(ctx); return err },
		"Start":     func() error { _, err := l.Start(ctx, 1); return err },
		"StartWith": func() error { _, err := l.StartWith(ctx, RunOptions{List: []int32{1}}); return err },
		"Resume":    func() error { return first(l, state) },
		"At":        func() error { return l.At(0, new(Batch)) },
		"Pick":      func() error { return l.Pick(0, 0, new(Batch)) },
		"PickAt":    func() error { return l.PickAt(0, 0, 0, new(Batch)) },
		"InfoOf":    func() error { _, err := l.InfoOf(0); return err },
		"Numbers":   func() error { _, err := l.Numbers(ctx); return err },
		"MultiHot":  func() error { _, err := l.MultiHot(ctx); return err },
		"Estimate":  func() error { _, err := l.Estimate(ctx); return err },
	} {
		if err := call(); !errors.Is(err, formats.ErrClosed) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	_, _, _, _ = l.Classes(), l.CacheStats(), l.Clock(), l.Frame()
	run.Stop()
	if n := ds.late.Load(); n > 0 {
		t.Errorf("the dataset was used %d times after Close", n)
	}
}

// TestCloseWaitsForPick, which another goroutine is in.
func TestCloseWaitsForPick(t *testing.T) {
	ds := &entered{refusing: &refusing{memory: rawImages(3, 4, 4, 3)}, inside: make(chan struct{}), goOn: make(chan struct{})}
	l, err := Open(formats.Registry{opener{ds}}, "x.lmdb", Config{BatchSize: 1, Transforms: augment.Train(4)})
	if err != nil {
		t.Fatal(err)
	}
	picked, closed := make(chan error), make(chan error)
	go func() { picked <- l.Pick(1, 0, new(Batch)) }()
	<-ds.inside
	go func() { closed <- l.Close() }()
	for !l.closing.Load() {
		runtime.Gosched()
	}
	close(ds.goOn)
	if err := <-picked; err != nil {
		t.Errorf("Pick: %v", err)
	}
	if err := <-closed; err != nil {
		t.Errorf("Close: %v", err)
	}
	if n := ds.late.Load(); n > 0 {
		t.Errorf("the dataset was closed while it was read")
	}
}

// entered says when it is read, and waits.
type entered struct {
	*refusing
	inside, goOn chan struct{}
}

func (d *entered) Read(i int, s *formats.Sample) error {
	d.inside <- struct{}{}
	<-d.goOn
	return d.refusing.Read(i, s)
}

// lasting is a dataset of the caller's with leases.
type lasting struct {
	*refusing
	leases atomic.Int64
}

func (d *lasting) Lease() (func(), error) {
	if d.shut.Load() {
		return nil, formats.ErrClosed
	}
	d.leases.Add(1)
	return func() { d.leases.Add(-1) }, nil
}

func (d *lasting) View(i int, s *formats.Sample) error { return d.Read(i, s) }

func (d *lasting) Read(i int, s *formats.Sample) error {
	if d.shut.Load() {
		return formats.ErrClosed
	}
	return d.memory.Read(i, s)
}

// TestDatasetClosedTooEarly ends the epoch, although bad samples are skipped; its memory stays until
// the Loader is closed.
func TestDatasetClosedTooEarly(t *testing.T) {
	for leases, mixed := range map[int64]bool{1: false, 2: true} {
		ds := &lasting{refusing: &refusing{memory: rawImages(400, 4, 4, 3)}}
		l, err := New(ds, Config{BatchSize: 2, OnError: Skip})
		if mixed {
			_ = l.Close()
			l, err = NewConcat([]Part{{Dataset: ds}, {Dataset: ds}}, Config{BatchSize: 2, OnError: Skip})
		}
		if err != nil {
			t.Fatal(err)
		}
		var last error
		for _, err := range l.Epoch(t.Context(), 0) {
			if !ds.shut.Load() {
				_ = ds.Close()
			}
			last = err
		}
		if !errors.Is(last, formats.ErrClosed) {
			t.Errorf("error %v", last)
		}
		if ds.leases.Load() != leases {
			t.Errorf("%d leases while the Loader is open", ds.leases.Load())
		}
		if err := l.Close(); err != nil || ds.leases.Load() != 0 {
			t.Errorf("%d leases after Close, error %v", ds.leases.Load(), err)
		}
		if _, err := New(ds, Config{BatchSize: 2}); !errors.Is(err, formats.ErrClosed) {
			t.Errorf("a Loader of a closed dataset: %v", err)
		}
	}
}

// TestNarrowedAfterClose: the key was in the cache's memory.
func TestNarrowedAfterClose(t *testing.T) {
	ds := newMemory()
	ds.add("train", deepFiles(t)[0].v)
	l, err := New(ds, Config{BatchSize: 1, Transforms: augment.Train(4), Cache: Cache{Kind: Encoded, Limit: 1 << 20, Dir: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	for epoch := range 2 {
		if n, err := drain(l); n != 1 || err != nil {
			t.Fatalf("epoch %d: %d batches, %v", epoch, n, err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if n := l.Narrowed(); strings.Clone(n.Key) != ds.samples[0].Key {
		t.Errorf("%+v", n)
	}
	if s := l.CacheStats(); s.Samples != 1 {
		t.Errorf("the cache had %+v", s)
	}
}

// TestForgotten: what has no Close and no Stop ends once it is unreachable, and is named.
func TestForgotten(t *testing.T) {
	ds := &refusing{memory: rawImages(400, 4, 4, 3)}
	func() {
		l, err := Open(formats.Registry{opener{ds}}, "forgotten.lmdb", Config{BatchSize: 2, Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		r, err := l.Start(context.Background(), 7)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}()
	for !ds.shut.Load() {
		runtime.GC()
		runtime.Gosched()
	}
	for {
		list := strings.Join(forgotten.Closed(), "\n")
		if strings.Contains(list, "epoch 7 of the loader of forgotten.lmdb, opened at ") &&
			strings.Contains(list, "\nthe loader of forgotten.lmdb, opened at ") && strings.Contains(list, "lifetime_test.go:") {
			break
		}
		runtime.Gosched()
	}
	if n := ds.late.Load(); n > 0 {
		t.Errorf("the dataset was used %d times after it was closed", n)
	}
}

func TestNonsenseIsNamed(t *testing.T) {
	ds := rawImages(4, 2, 2, 3)
	l := makeLoader(t, ds, Config{BatchSize: 2})
	start := func(o RunOptions) func() error {
		return func() error { _, err := l.StartWith(t.Context(), o); return err }
	}
	for want, call := range map[string]func() error{
		"dataset is nil":   func() error { _, err := New(nil, Config{BatchSize: 1}); return err },
		"epoch -1":         func() error { _, err := l.Start(t.Context(), -1); return err },
		"position 5 of 4":  start(RunOptions{Position: 5}),
		"leave out Epoch":  start(RunOptions{State: l.StateAt(0, 2), Epoch: 1}),
		"it was asked for": start(RunOptions{Allocate: func(int) []byte { return make([]byte, 3) }}),
		"shape [-1":        func() error { _, err := NewBatch([4]int{-1, 1, 1, 1}, formats.Uint8, ""); return err },
		`"int64"`:          func() error { _, err := NewBatch([4]int{1, 1, 1, 1}, formats.Int64, ""); return err },
		"label type word":  func() error { _, err := NewBatch([4]int{1, 1, 1, 1}, formats.Uint8, "word"); return err },
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Pick(0, 0, b); err == nil || !strings.Contains(err.Error(), "an epoch's") {
			t.Errorf("Pick into a batch of the epoch: %v", err)
		}
	}
	labels := labelled(0, 17)
	labels.meta.Schema[1].Classes = classes(2)
	_, err := drain(makeLoader(t, labels, Config{BatchSize: 1}))
	for _, want := range []string{labels.samples[1].Key, "class 17", "2 classes"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a label of 17 with two classes: %v, want %q", err, want)
		}
	}
}
