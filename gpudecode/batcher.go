//go:build linux && cgo

package gpudecode

import (
	"context"
	"fmt"
	"sync"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Batcher decodes single images from many goroutines, as many at once as are waiting when the GPU becomes free. The
// results are pixels in host memory. It is safe for concurrent use.
type Batcher struct {
	limits BatcherConfig
	tally  Tally
	// decode carries out a batch of requests of the same channels, on the Batcher's goroutine.
	decode func([]*ticket)

	mu      sync.Mutex
	waiting []*ticket
	closed  bool
	wake    chan struct{} // holds a value after waiting or closed has changed
	ended   chan struct{} // closed by the Batcher's goroutine
}

// ticket is a request that waits or is being decoded.
type ticket struct {
	*Request
	outcome Outcome
	err     error           // of the batch
	pixels  []byte          // the result, in the Batcher's memory, until copied
	copied  *sync.WaitGroup // to tell when pixels were copied
	done    chan struct{}
}

func newBatcher(c BatcherConfig, decode func([]*ticket)) *Batcher {
	return &Batcher{limits: c, decode: decode, wake: make(chan struct{}, 1), ended: make(chan struct{})}
}

// Decode decodes r to dst, uint8 with r.Channels channels. It waits for the image alone, not for a batch to be full; a
// request that is being decoded is waited for even if ctx ends. The error is the image's own if the Outcome has it too;
// otherwise the GPU failed, ctx ended or the Batcher was closed.
func (b *Batcher) Decode(ctx context.Context, r *Request, dst *pixel.Image) (Outcome, error) {
	if err := r.check(dst); err != nil {
		return Outcome{}, err
	}
	if b.ended == nil {
		return Outcome{}, errClosed
	}
	_, reason := inspect(r.JPEG, r.Channels)
	if reason == "" && r.W > b.limits.Bytes/r.Channels/r.H {
		reason = ReasonSize
	}
	t := &ticket{Request: r, done: make(chan struct{}), outcome: Outcome{Path: CPU, Reason: reason}}
	if reason == "" {
		if err := b.wait(ctx, t); err != nil {
			return Outcome{}, err
		}
	}
	if t.outcome.Path == CPU {
		t.outcome.Err = r.CPU()
	} else {
		dst.Reset(r.H, r.W, r.Channels, formats.Uint8)
		copy(dst.Pix, t.pixels)
		t.copied.Done()
	}
	b.tally.Add(t.outcome)
	return t.outcome, t.outcome.Err
}

// wait hands t to the Batcher's goroutine and waits for it.
func (b *Batcher) wait(ctx context.Context, t *ticket) error {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return fmt.Errorf("gpudecode.Batcher: %w", formats.ErrClosed)
	}
	b.waiting = append(b.waiting, t)
	b.mu.Unlock()
	b.signal()
	select {
	case <-t.done:
		return t.err
	case <-ctx.Done():
	}
	if b.withdraw(t) {
		return ctx.Err()
	}
	<-t.done // the GPU reads its bytes
	return t.err
}

func (b *Batcher) signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// withdraw takes back t if it still waits.
func (b *Batcher) withdraw(t *ticket) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, other := range b.waiting {
		if other == t {
			b.waiting = append(b.waiting[:i], b.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// run decodes what waits until the Batcher is closed.
func (b *Batcher) run() {
	for range b.wake {
		for {
			batch, closed := b.take()
			if closed {
				return
			}
			if len(batch) == 0 {
				break
			}
			b.decode(batch)
		}
	}
}

// take returns the requests that come next: as many of the same channels as fit into a batch, in the order in which
// they came.
func (b *Batcher) take() (batch []*ticket, closed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		for _, t := range b.waiting {
			t.err = fmt.Errorf("gpudecode.Batcher: %w", formats.ErrClosed)
			close(t.done)
		}
		b.waiting = nil
		return nil, true
	}
	n, rest := 0, b.waiting[:0]
	for _, t := range b.waiting {
		if len(batch) < b.limits.Batch && n+t.bytes() <= b.limits.Bytes && (len(batch) == 0 || t.Channels == batch[0].Channels) {
			batch, n = append(batch, t), n+t.bytes()
		} else {
			rest = append(rest, t)
		}
	}
	clear(b.waiting[len(rest):])
	b.waiting = rest
	return batch, false
}

// Counts returns how many images took which path so far.
func (b *Batcher) Counts() Counts { return b.tally.Counts() }

// Close waits for images that are being decoded and refuses those that wait. A second call does nothing.
func (b *Batcher) Close() {
	if b.ended == nil { // it was not made by NewBatcher
		return
	}
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.signal()
	<-b.ended
}
