//go:build linux && cgo

package gpudecode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/cuda"
	"github.com/dsconv/dsconv/internal/testing/fakegpu"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

func newTestBatcher(t *testing.T, modes string, c BatcherConfig) *Batcher {
	t.Helper()
	b, err := openFake(t, modes).NewBatcher(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// TestBatcher: requests of many goroutines, of all kinds and sizes, are the CPU's bit for bit.
func TestBatcher(t *testing.T) {
	for _, modes := range []string{"", "slow", "skip/3", "image:6/5", "engines:0", "partial/4", "cuMemAlloc_v2:2/3"} {
		t.Run(modes, func(t *testing.T) {
			b := newTestBatcher(t, strings.TrimPrefix(modes, "cuMemAlloc_v2:2/3"), BatcherConfig{Batch: 7, Bytes: 3 * 80 * 80 * 4, Threads: 2})
			fakegpu.Set(modes)
			p := newPool(t, 8*kinds)
			var all sync.WaitGroup
			for k := range 8 {
				all.Go(func() { askRandomly(t, b, p, rand.New(rand.NewPCG(uint64(k), 3))) })
			}
			all.Wait()
			if c := b.Counts(); c.Engine+c.CUDA+c.CPU != 8*40 || c.Engine+c.CUDA == 0 {
				t.Errorf("%+v", c)
			}
		})
	}
}

// askRandomly makes requests and compares the answers with the CPU's.
func askRandomly(t *testing.T, b *Batcher, p *pool, rng *rand.Rand) {
	r := &reference{}
	defer r.decoder.Close()
	var dst pixel.Image
	for range 40 {
		im, kind := p.image(rng)
		channels := []int{3, 3, 1}[rng.IntN(3)]
		spec := newSpec(t, channels, formats.Uint8, pixel.NHWC)
		im.Region, im.Flip, im.FlipV = pixel.Rect{}, false, false
		want := make([]byte, im.size(channels))
		wantErr := r.store(want, &im, spec)
		q := &Request{JPEG: im.JPEG, Window: im.Window, H: im.H, W: im.W, Filter: im.Filter, Channels: channels}
		q.CPU = func() error {
			dst.Reset(im.H, im.W, channels, formats.Uint8)
			return r.store(dst.Pix, &im, spec)
		}
		o, err := b.Decode(context.Background(), q, &dst)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || fmt.Sprint(o.Err) != fmt.Sprint(wantErr) {
			t.Errorf("kind %d: %v, %+v, on the CPU %v", kind, err, o, wantErr)
		} else if err == nil && !bytes.Equal(dst.Pix, want) {
			t.Errorf("kind %d, %+v: pixels differ", kind, o)
		}
	}
}

// plain is a request that the engine answers.
func plain(t *testing.T) *Request {
	return &Request{JPEG: newJPEGs(t, 1).make(kind420, 64, 48), H: 20, W: 30, Channels: 3, CPU: func() error { return errors.New("on the CPU") }}
}

// TestAlone: a request does not wait for others.
func TestAlone(t *testing.T) {
	b := newTestBatcher(t, "", BatcherConfig{})
	var dst pixel.Image
	for range 3 {
		if o, err := b.Decode(context.Background(), plain(t), &dst); err != nil || o.Path != Engine || dst.Check() != nil {
			t.Error(o, err)
		}
	}
}

// TestBatcherIsFull: what waits while a batch is decoded makes the next ones, of the same channels, in order and within
// the limits.
func TestBatcherIsFull(t *testing.T) {
	decoding, going := make(chan struct{}), make(chan struct{})
	var batches [][]int
	b := newBatcher(BatcherConfig{Batch: 3, Bytes: 100}, func(tickets []*ticket) {
		decoding <- struct{}{}
		<-going
		var sizes []int
		for _, t := range tickets {
			sizes = append(sizes, t.Channels*1000+t.bytes())
			close(t.done)
		}
		batches = append(batches, sizes)
	})
	go func() {
		defer close(b.ended)
		b.run()
	}()
	ask := func(channels, w int) *ticket {
		return &ticket{Request: &Request{H: 1, W: w, Channels: channels}, done: make(chan struct{})}
	}
	var all sync.WaitGroup
	put := func(k *ticket) {
		n := len(b.waiting)
		all.Go(func() {
			if err := b.wait(context.Background(), k); err != nil {
				t.Error(err)
			}
		})
		for have := n; have == n; {
			b.mu.Lock()
			have = len(b.waiting)
			b.mu.Unlock()
		}
	}
	first := ask(3, 1)
	all.Go(func() { _ = b.wait(context.Background(), first) })
	<-decoding
	for _, k := range []*ticket{ask(3, 2), ask(1, 5), ask(3, 4), ask(3, 5), ask(3, 6), ask(1, 90), ask(1, 10)} {
		put(k)
	}
	going <- struct{}{}
	for range 4 {
		<-decoding
		going <- struct{}{}
	}
	all.Wait()
	b.Close()
	want := "[[3003] [3006 3012 3015] [1005 1090] [3018] [1010]]"
	if fmt.Sprint(batches) != want {
		t.Errorf("batches %v, want %s", batches, want)
	}
}

// TestWithdrawn: a request whose ctx ends while it waits is taken back; one that is being decoded is waited for.
func TestWithdrawn(t *testing.T) {
	decoding, going := make(chan struct{}), make(chan struct{})
	b := newBatcher(BatcherConfig{Batch: 1, Bytes: 100}, func(tickets []*ticket) {
		decoding <- struct{}{}
		<-going
		close(tickets[0].done)
	})
	go func() {
		defer close(b.ended)
		b.run()
	}()
	ctx, cancel := context.WithCancel(context.Background())
	errs := make(chan error)
	ask := func() { // a ticket of 3 bytes
		errs <- b.wait(ctx, &ticket{Request: &Request{H: 1, W: 1, Channels: 3}, done: make(chan struct{})})
	}
	go ask()
	<-decoding
	cancel()
	go ask()
	if err := <-errs; !errors.Is(err, context.Canceled) { // the second, whichever of its two ends is seen first
		t.Errorf("one that waits: %v", err)
	}
	going <- struct{}{}
	if err := <-errs; err != nil {
		t.Errorf("one that is decoded: %v", err)
	}
	b.Close()
	b.Close()
	if err := b.wait(context.Background(), &ticket{}); !errors.Is(err, formats.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// TestBatcherClosedWhileUsed: those that wait are refused.
func TestBatcherClosedWhileUsed(t *testing.T) {
	b := newTestBatcher(t, "slow", BatcherConfig{Batch: 2})
	q := plain(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			var dst pixel.Image
			for {
				if _, err := b.Decode(context.Background(), q, &dst); err != nil {
					if !errors.Is(err, formats.ErrClosed) {
						t.Error(err)
					}
					return
				}
			}
		})
	}
	for b.Counts().Engine < 10 {
		var dst pixel.Image
		if _, err := b.Decode(context.Background(), q, &dst); err != nil {
			t.Fatal(err)
		}
	}
	b.Close()
	all.Wait()
}

// TestBatcherLost: a lost GPU is an error of each request, not of an image.
func TestBatcherLost(t *testing.T) {
	b := newTestBatcher(t, "", BatcherConfig{})
	fakegpu.Set("kernel:719@1")
	var dst pixel.Image
	for range 2 {
		if o, err := b.Decode(context.Background(), plain(t), &dst); !errors.Is(err, cuda.ErrLost) || o != (Outcome{}) {
			t.Error(o, err)
		}
	}
	fakegpu.Set("") // so that what is closed can be counted
}

// TestBatcherNonsense: wrong requests are errors.
func TestBatcherNonsense(t *testing.T) {
	b := newTestBatcher(t, "", BatcherConfig{Bytes: 1000})
	var dst pixel.Image
	for name, change := range map[string]func(*Request){
		"no CPU": func(r *Request) { r.CPU = nil }, "no size": func(r *Request) { r.H = 0 }, "two channels": func(r *Request) { r.Channels = 2 },
	} {
		q := plain(t)
		change(q)
		if _, err := b.Decode(context.Background(), q, &dst); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for name, err := range map[string]error{"nil request": errOf(b.Decode(context.Background(), nil, &dst)), "nil dst": errOf(b.Decode(context.Background(), plain(t), nil))} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if o, err := b.Decode(context.Background(), plain(t), &dst); err == nil || o.Reason != ReasonSize {
		t.Errorf("larger than a batch: %+v, %v", o, err)
	}
}

func errOf(_ Outcome, err error) error { return err }
