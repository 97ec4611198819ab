package reader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/order"
)

// running is a Run behind the handle that the caller has: workers refer to it and not to the handle.
// An atomic counter hands out its entries, numbered through all batches, to the workers; the ring of
// slots limits how far they run ahead of the loop.
type running struct {
	loader       *Loader
	order        order.Order
	rank         division
	allocate     Allocator     // nil for the Loader's own memory
	observe      func(Stretch) // nil if nobody does
	epoch        int
	batches      int
	repeats      bool   // samples may come more than once
	rankKey      uint64 // distinguishes the random draws of lists on different ranks
	extraEntries int    // 1 with MixUp or CutMix: the entry that the first one of a batch is mixed with
	total        int64  // entries

	turn     sync.Mutex // held during Next; guards what follows
	at       int        // the batch that Next returns next, or has returned
	given    *Batch     // that the loop has; nil if none
	asked    bool       // it was asked for
	err      error      // that ended the run
	slots    []slot
	upcoming []int32 // scratch of prefetch

	next  atomic.Int64 // the next entry for a worker
	limit atomic.Int64 // entries below it have a slot
	ready atomic.Int64 // complete batches that wait for the loop

	mu        sync.Mutex // for opened and cause alone
	opened    sync.Cond  // limit or stopped changed
	stopped   atomic.Bool
	cause     error         // why it was stopped
	over      chan struct{} // closed when it is stopped
	ending    sync.Once
	interrupt pixel.Stop // interrupts decoding; stopped only prevents new entries
	unwatch   func() bool
	workers   sync.WaitGroup

	staged      chan *slot      // batches for the GPU; nil without one, and if the caller decodes
	decoding    context.Context // of what the GPU decodes
	endDecoding context.CancelFunc
}

// division divides the positions of an epoch or list into this rank's batches.
type division interface {
	// Batches is their number, Entries that of all their entries.
	Batches() int
	Entries() int
	// Span is the first position of batch k and its size, Step that of the batches of all ranks.
	Span(k int) (first, size int)
	Step(k int) (first, size int)
	// End is the position after the step of batch k.
	End(k int) int
	// Locate is the batch of an entry and its place there, if each batch has extra more entries.
	Locate(entry int64, extra int) (k, i int)
}

// begin starts the workers on r's order, rank and epoch.
func (r *running) begin(ctx context.Context) error {
	l := r.loader
	r.batches = r.rank.Batches()
	if l.mixer != nil {
		r.extraEntries = 1
	}
	r.total = int64(r.rank.Entries() + r.extraEntries*r.batches)
	r.opened.L, r.over = &r.mu, make(chan struct{})
	r.slots = make([]slot, min(l.config.Prefetch+1, r.batches))
	for k := range r.slots {
		r.slots[k].done = make(chan struct{}, 1)
		if err := r.open(k); err != nil {
			return fmt.Errorf("epoch %d: %w", r.epoch, err)
		}
	}
	l.add(r)
	r.startDecoding()
	for k := range int(min(int64(l.config.Workers), r.total)) {
		r.workers.Go(func() { r.work(k) })
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unwatch = context.AfterFunc(ctx, func() {
		r.stop(&contextError{fmt.Errorf("epoch %d: %w", r.epoch, context.Cause(ctx))})
	})
	return nil
}

// contextError is the cause of a run whose context ended. A run whose last batch was taken has ended
// before.
type contextError struct{ error }

func (e *contextError) Unwrap() error { return e.error }

// errBusy is the error of a call of Next during another one.
var errBusy = errors.New("reader: Next of a Run that is in Next already: call it from one goroutine at a time")

// nextBatch is Next.
func (r *running) nextBatch(ctx context.Context) (*Batch, error) {
	if !r.turn.TryLock() {
		if err := r.whyStopped(); err != nil {
			return nil, err
		}
		return nil, errBusy
	}
	defer r.turn.Unlock()
	if r.takeBack() {
		r.reopen()
	}
	stopped := r.whyStopped()
	_, byContext := stopped.(*contextError) //nolint:errorlint // it is never wrapped
	switch {
	case r.err != nil:
		return nil, r.err
	case stopped != nil && !byContext:
		return nil, stopped
	case r.at == r.batches:
		return nil, io.EOF
	case stopped != nil:
		return nil, stopped
	}
	memory, err := r.wait(ctx, r.at)
	if err != nil {
		return nil, err
	}
	r.given = r.loader.hand(memory, r.allocate != nil)
	return r.given, nil
}

// whyStopped is the error of a run that was stopped.
func (r *running) whyStopped() error {
	if !r.stopped.Load() {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cause
}

// takeBack ends the batch that the loop had. It returns false if there is none.
func (r *running) takeBack() bool {
	if r.given == nil {
		return false
	}
	if free := r.given.giveBack(); !free {
		r.slot(r.at).batch = nil
	}
	r.given, r.asked = nil, false
	r.at++
	return true
}

// reopen starts the batch that uses the slot of the last one.
func (r *running) reopen() {
	k := r.at - 1 + len(r.slots)
	if k >= r.batches || r.stopped.Load() {
		return
	}
	if err := r.open(k); err != nil {
		r.err = fmt.Errorf("epoch %d: %w", r.epoch, err)
	}
}

// stop stops the workers, waits for them and takes back all batches but the one that the loop has. A
// call during another one waits for it.
func (r *running) stop(cause error) {
	r.ending.Do(func() {
		r.mu.Lock()
		r.cause = cause
		r.stopped.Store(true)
		r.interrupt.Set()
		unwatch := r.unwatch
		r.mu.Unlock()
		close(r.over)
		r.opened.Broadcast()
		r.endDecoding()
		unwatch()
		r.workers.Wait()
		r.turn.Lock()
		defer r.turn.Unlock()
		for k := range r.slots {
			s := &r.slots[k]
			if s.batch != nil && (r.given == nil || s != r.slot(r.at)) {
				r.loader.releaseBatch(s.batch, r.allocate != nil)
			}
			s.batch = nil
		}
		r.loader.remove(r)
	})
}

// leave is stop at the end of a loop, which has no batch any more.
func (r *running) leave() {
	r.turn.Lock()
	r.takeBack()
	r.turn.Unlock()
	r.stop(errStopped)
}

// slot is the slot of batch k.
func (r *running) slot(k int) *slot { return &r.slots[k%len(r.slots)] }

// open lets the workers start batch k, whose slot is free.
func (r *running) open(k int) error {
	s := r.slot(k)
	if s.batch == nil {
		s.batch = r.loader.acquireBatch()
		if r.allocate != nil {
			s.batch.images = nil // drops the Loader's own memory
		}
	}
	if r.allocate != nil {
		if err := r.lend(s.batch); err != nil {
			return err
		}
	}
	first, size := r.rank.Span(k)
	step, all := r.rank.Step(k)
	s.number = k
	s.resetItems(r.loader, size+r.extraEntries)
	s.reset(first, size, step, all)
	s.left.Store(int64(size + r.extraEntries))
	r.loader.frame.reset(s.batch, size)
	s.batch.End = r.rank.End(k)
	if r.extraEntries > 0 {
		r.loader.frame.resetPrevious(&s.previous, s.batch)
	}
	guard.Renew()
	r.prefetch(first, size)
	r.mu.Lock()
	r.limit.Add(int64(size + r.extraEntries))
	r.mu.Unlock()
	r.opened.Broadcast()
	return nil
}

// prefetch tells the dataset which samples will be read soon.
func (r *running) prefetch(first, size int) {
	if r.loader.prefetcher == nil {
		return
	}
	r.upcoming = r.upcoming[:0]
	for p := first; p < first+size; p++ {
		r.upcoming = append(r.upcoming, int32(r.loader.samples.At(r.order.At(p%r.order.Len()))))
	}
	r.loader.prefetcher.Prefetch(r.upcoming)
}

// wait waits until batch k is complete, and returns the memory that holds it.
func (r *running) wait(ctx context.Context, k int) (*Batch, error) {
	l := r.loader
	start := l.now()
	if !r.asked {
		r.asked = true
		l.asked.Add(1)
		l.ready.Add(r.ready.Load())
	}
	defer func() { l.wait.Add(int64(l.now() - start)) }()
	s := r.slot(k)
	if l.config.Synchronous {
		r.loadNow(ctx)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("epoch %d: %w", r.epoch, context.Cause(ctx))
	}
	select {
	case <-s.done:
		r.ready.Add(-1)
		if s.err != nil {
			if err := r.whyStopped(); err != nil {
				return nil, err // stopping interrupted the sample
			}
			r.err = s.err
			return nil, s.err
		}
		return s.batch, nil
	case <-r.over:
		return nil, r.whyStopped()
	case <-ctx.Done():
		return nil, fmt.Errorf("epoch %d: %w", r.epoch, context.Cause(ctx))
	}
}

// work builds entries until none is left or the run is stopped. number is the worker's.
func (r *running) work(number int) {
	w := r.loader.acquire()
	defer r.loader.release(w)
	w.stopBy(&r.interrupt)
	o := observer{observe: r.observe, worker: number}
	defer o.pause()
	for {
		entry := r.next.Add(1) - 1
		if entry >= r.total || !r.admit(entry, &o) {
			return
		}
		r.buildEntry(w, entry, &o)
	}
}

// loadNow builds, in the caller's goroutine, the entries that have a slot, until ctx ends or the run is
// stopped.
func (r *running) loadNow(ctx context.Context) {
	w := r.loader.acquire()
	defer r.loader.release(w)
	w.stopBy(&r.interrupt)
	o := observer{observe: r.observe}
	defer o.pause()
	for r.next.Load() < r.limit.Load() && ctx.Err() == nil && !r.stopped.Load() {
		r.buildEntry(w, r.next.Add(1)-1, &o)
	}
}

// buildEntry builds an entry, and finishes its batch if it is the last one to be built.
func (r *running) buildEntry(w *worker, entry int64, o *observer) {
	k, i := r.rank.Locate(entry, r.extraEntries)
	o.work(k)
	s := r.slot(k)
	r.build(w, s, i)
	if s.left.Add(-1) > 0 {
		return
	}
	if r.staged != nil {
		r.staged <- s // never waits
		return
	}
	r.complete(w, s)
}

// complete finishes the slot's batch, all entries of which are built, and tells the loop.
func (r *running) complete(w *worker, s *slot) {
	err := guard.Do(func() error {
		if r.loader.gpu != nil {
			if err := r.decode(w, s); err != nil {
				return err
			}
		}
		r.finish(s)
		return nil
	})
	if err != nil {
		s.err = fmt.Errorf("batch at position %d: %w", s.first, err)
	}
	r.ready.Add(1)
	s.done <- struct{}{}
}

// admit waits until entry has a slot, which is a pause; it returns false once the run is stopped. It takes a lock only
// if the loop is behind.
func (r *running) admit(entry int64, o *observer) bool {
	if entry >= r.limit.Load() {
		o.pause()
		r.mu.Lock()
		for entry >= r.limit.Load() && !r.stopped.Load() {
			r.opened.Wait()
		}
		r.mu.Unlock()
	}
	return !r.stopped.Load()
}

// build builds entry i of the slot's batch; the one after the last is what the first is mixed with.
func (r *running) build(w *worker, s *slot, i int) {
	e, position := r.entry(s, i)
	if err := r.fill(w, s, e, position); err != nil {
		s.fail(i, err)
	}
}

// positionBefore is the position before the slot's first, in the global batch treated as circular.
func (r *running) positionBefore(s *slot) int {
	if s.first > s.step {
		return s.first - 1
	}
	return s.step + s.all - 1
}
