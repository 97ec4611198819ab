package reader

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"time"
)

// Epoch ranges over this rank's batches of an epoch, in order. A batch is valid until the
// loop's body ends. An error, of ctx or of a sample, whose key it names, comes with a nil
// batch and ends the range; batches before the failing one still come.
func (l *Loader) Epoch(ctx context.Context, epoch int) iter.Seq2[*Batch, error] {
	return l.from(ctx, epoch, 0)
}

// from is Epoch from a position on.
func (l *Loader) from(ctx context.Context, epoch, position int) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		r := l.start(epoch, position)
		defer r.end()
		for k := range r.batches {
			b, err := r.wait(ctx, k)
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(b, nil) {
				return
			}
			r.recycle(k)
		}
	}
}

// run is one range over an epoch. Its entries, numbered through all batches, are handed
// out to the workers by an atomic counter; the ring of slots bounds how far they go ahead.
type run struct {
	loader  *Loader
	order   order
	share   share
	epoch   int
	batches int
	total   int64 // entries
	slots   []slot

	next  atomic.Int64 // the entry to be made next
	limit atomic.Int64 // entries below it have a slot

	mu      sync.Mutex // for opened alone
	opened  sync.Cond  // limit or stopped changed
	stopped atomic.Bool
	workers sync.WaitGroup
}

// slot is a place for a batch in the making. Batch k goes through slot k modulo the
// number of slots.
type slot struct {
	batch *Batch
	first int           // position of its first entry in the epoch
	left  atomic.Int64  // entries that are still to be made
	done  chan struct{} // one token when none is left

	mu     sync.Mutex
	err    error // of the failing entry that comes first
	failed int
}

// start sets the workers to work.
func (l *Loader) start(epoch, position int) *run {
	share := l.share
	share.start = position
	r := &run{
		loader:  l,
		order:   newOrder(l.samples.n, l.config.Shuffle, l.config.Seed, epoch),
		share:   share,
		epoch:   epoch,
		batches: share.batches(),
		total:   int64(share.samples()),
	}
	r.opened.L = &r.mu
	r.slots = make([]slot, min(l.config.Prefetch+1, r.batches))
	for k := range r.slots {
		r.slots[k].batch = l.acquireBatch()
		r.slots[k].done = make(chan struct{}, 1)
		r.open(k)
	}
	for range min(int64(l.config.Workers), r.total) {
		r.workers.Go(r.work)
	}
	return r
}

// end stops the workers, waits for them and gives the batches back.
func (r *run) end() {
	r.stop()
	r.workers.Wait()
	for k := range r.slots {
		r.loader.releaseBatch(r.slots[k].batch)
	}
}

func (r *run) stop() {
	r.mu.Lock()
	r.stopped.Store(true)
	r.mu.Unlock()
	r.opened.Broadcast()
}

// slot is where batch k is made.
func (r *run) slot(k int) *slot { return &r.slots[k%len(r.slots)] }

// open lets the workers begin with batch k, whose slot is free.
func (r *run) open(k int) {
	s := r.slot(k)
	first, size := r.share.span(k)
	s.first, s.err = first, nil
	s.left.Store(int64(size))
	r.loader.frame.reset(s.batch, size)
	s.batch.End = r.share.end(k)
	r.mu.Lock()
	r.limit.Add(int64(size))
	r.mu.Unlock()
	r.opened.Broadcast()
}

// recycle gives batch k's slot to the batch that comes as many later as there are slots.
func (r *run) recycle(k int) {
	if k += len(r.slots); k < r.batches {
		r.open(k)
	}
}

// wait waits until batch k is made.
func (r *run) wait(ctx context.Context, k int) (*Batch, error) {
	start := time.Now()
	defer func() { r.loader.wait.Add(int64(time.Since(start))) }()
	s := r.slot(k)
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("epoch %d: %w", r.epoch, context.Cause(ctx))
	}
	select {
	case <-s.done:
		return s.batch, s.err
	case <-ctx.Done():
		return nil, fmt.Errorf("epoch %d: %w", r.epoch, context.Cause(ctx))
	}
}

// work makes entries until there are none left or the run is stopped.
func (r *run) work() {
	w := r.loader.acquire()
	defer r.loader.release(w)
	for {
		entry := r.next.Add(1) - 1
		if entry >= r.total || !r.admit(entry) {
			return
		}
		batch := int64(r.share.batch)
		s := r.slot(int(entry / batch))
		if i := int(entry % batch); r.make(w, s, i) {
			s.done <- struct{}{}
		}
	}
}

// admit waits until entry has a slot; it is false once the run is stopped. There is no
// lock to take unless the loop is behind.
func (r *run) admit(entry int64) bool {
	if entry >= r.limit.Load() {
		r.mu.Lock()
		for entry >= r.limit.Load() && !r.stopped.Load() {
			r.opened.Wait()
		}
		r.mu.Unlock()
	}
	return !r.stopped.Load()
}

// make makes entry i of the slot's batch and says whether it was the last one missing.
func (r *run) make(w *worker, s *slot, i int) bool {
	n := r.loader.samples.n
	position := s.first + i
	err := w.fill(s.batch, i, r.order.at(position%n), r.epoch)
	switch {
	case err != nil:
		s.fail(i, err)
	case position >= n:
		markPadding(s.batch, i, r.loader.frame.columns)
	}
	return s.left.Add(-1) == 0
}

// fail keeps the error of the first failing entry, so that it does not depend on timing.
func (s *slot) fail(i int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil || i < s.failed {
		s.err, s.failed = err, i
	}
}
