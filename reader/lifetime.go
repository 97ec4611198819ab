package reader

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/cache"
	"github.com/dsconv/dsconv/internal/forgotten"
	"github.com/dsconv/dsconv/internal/image/codec"
)

// lifetime is what lets a Loader be closed while it is used.
type lifetime struct {
	gate    sync.RWMutex // held for reading by whoever uses the dataset outside a run
	closing atomic.Bool
	ending  sync.Once
	failed  error // of Close
	runs    map[*running]struct{}
	held    *resources
	open    *forgotten.Open
}

// enter keeps the Loader open until leave. It fails if the Loader is closed.
func (l *Loader) enter() error {
	if !l.closing.Load() {
		l.gate.RLock()
		if !l.closing.Load() {
			return nil
		}
		l.gate.RUnlock()
	}
	return l.closed()
}

func (l *Loader) leave() { l.gate.RUnlock() }

// goesOn returns an error if ctx has ended or the Loader is being closed.
func (l *Loader) goesOn(ctx context.Context) error {
	if l.closing.Load() {
		return l.closed()
	}
	return context.Cause(ctx)
}

// closed is the error of a Loader that is closed.
func (l *Loader) closed() error {
	return fmt.Errorf("%s: %w: open another one", l.name, formats.ErrClosed)
}

// Close ends the epochs that run, waits for their workers and for calls such as Pick, frees the
// decoders, detaches from the cache and, if Open opened it, closes the dataset. It does not wait for
// the loops: the batch that a loop has stays valid until the loop's body ends, and kept ones until
// Release; the loop's next step is formats.ErrClosed. Any goroutine may call it, also in the body of a
// loop, but not a method of the dataset. Closing it again does nothing and returns the same error.
func (l *Loader) Close() error {
	if l == nil {
		return nil
	}
	l.ending.Do(func() {
		l.open.Done()
		l.closing.Store(true)
		l.gate.Lock()   // whoever has entered has left
		l.gate.Unlock() //nolint:staticcheck // nobody enters any more
		l.mu.Lock()
		runs := slices.Collect(maps.Keys(l.runs))
		l.batches = nil
		l.mu.Unlock()
		for _, r := range runs {
			r.stop(l.closed())
		}
		l.failed = l.held.free()
	})
	return l.failed
}

// add registers a run, so that Close ends it.
func (l *Loader) add(r *running) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs[r] = struct{}{}
}

func (l *Loader) remove(r *running) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.runs, r)
}

// hold makes the Loader keep what must be freed, and a lease of ds: its memory stays although it is
// closed.
func (l *Loader) hold(ds formats.Dataset) error {
	held := &resources{decoders: map[*codec.Decoder]struct{}{}, release: func() {}}
	if d, ok := ds.(formats.Viewer); ok {
		release, err := d.Lease()
		if err != nil {
			return err
		}
		held.release = release
	}
	l.held, l.runs = held, map[*running]struct{}{}
	l.open = forgotten.Track(l, l.name, func() { _ = held.free() })
	return nil
}

// resources are what a Loader holds besides memory of Go's. They do not refer to it, so that they can be
// freed once it is unreachable.
type resources struct {
	mu       sync.Mutex
	decoders map[*codec.Decoder]struct{}
	gpu      *gpu // nil on the CPU
	cache    *cache.Cache
	stats    cache.Stats     // of the cache when it was closed
	dataset  formats.Dataset // that Open opened
	release  func()
}

func (h *resources) own(ds formats.Dataset) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dataset = ds
}

// decoder makes a decoder.
func (h *resources) decoder() *codec.Decoder {
	d := codec.NewDecoder()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.decoders[d] = struct{}{}
	return d
}

// drop closes a decoder.
func (h *resources) drop(d *codec.Decoder) {
	h.mu.Lock()
	delete(h.decoders, d)
	h.mu.Unlock()
	d.Close()
}

// statsAtClose is the cache's state when it was closed.
func (h *resources) statsAtClose() (s cache.Stats) {
	if h != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		s = h.stats
	}
	return s
}

// free frees everything. Nobody uses it any more.
func (h *resources) free() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for d := range h.decoders {
		d.Close()
	}
	clear(h.decoders)
	err := h.gpu.close()
	if h.cache != nil {
		h.stats = h.cache.Stats()
		err = errors.Join(err, h.cache.Close())
	}
	h.release()
	if h.dataset != nil {
		err = errors.Join(err, h.dataset.Close())
	}
	return err
}
