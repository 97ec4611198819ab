package reader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/sampleorder"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Run is a running epoch, for callers that cannot range over it. It belongs to one goroutine at a
// time, and must be stopped. An atomic counter hands out its entries, numbered through all batches,
// to the workers; the ring of slots limits how far they run ahead of the loop.
type Run struct {
	loader       *Loader
	order        sampleorder.Order
	rank         sampleorder.RankBatches
	allocate     Allocator // nil for the Loader's own memory
	epoch        int
	batches      int
	repeats      bool   // samples may come more than once
	rankKey      uint64 // distinguishes the random draws of lists on different ranks
	at           int    // the batch that Next returns next, or has returned
	given        bool   // it has
	asked        bool   // it was asked for
	err          error  // that ended the run
	extraEntries int    // 1 with MixUp or CutMix: the entry that the first one of a batch is mixed with
	total        int64  // entries
	slots        []slot
	upcoming     []int32 // scratch of prefetch

	next  atomic.Int64 // the next entry for a worker
	limit atomic.Int64 // entries below it have a slot
	ready atomic.Int64 // complete batches that wait for the loop

	mu      sync.Mutex // for opened alone
	opened  sync.Cond  // limit or stopped changed
	stopped atomic.Bool
	ending  pixel.Stop // interrupts decoding; stopped only prevents new entries
	workers sync.WaitGroup
}

// Start starts the workers on what is left of an epoch, as Resume does. The images are in memory
// from allocate or, if it is nil, in the Loader's own.
func (l *Loader) Start(s State, allocate Allocator) (*Run, error) {
	if err := l.CheckState(s); err != nil {
		return nil, err
	}
	return l.start(s.Epoch, s.Position, allocate)
}

// start is Start of an epoch of the plan's order.
func (l *Loader) start(epoch, position int, allocate Allocator) (*Run, error) {
	return l.run(&Run{
		allocate: allocate,
		order:    l.plan.Epoch(l.config.Seed, epoch), rank: l.rankBatches(position), epoch: epoch, repeats: l.plan.Repeats(),
	})
}

// run starts the workers on r's order, rank and epoch.
func (l *Loader) run(r *Run) (*Run, error) {
	if l.config.AnySize {
		return nil, errors.New("images of different sizes cannot be batched: read them with Pick")
	}
	r.loader, r.batches = l, r.rank.Batches()
	if l.mixer != nil {
		r.extraEntries = 1
	}
	r.total = int64(r.rank.Entries() + r.extraEntries*r.batches)
	r.opened.L = &r.mu
	r.slots = make([]slot, min(l.config.Prefetch+1, r.batches))
	for k := range r.slots {
		r.slots[k].done = make(chan struct{}, 1)
		r.open(k)
	}
	for range min(int64(l.config.Workers), r.total) {
		r.workers.Go(r.work)
	}
	return r, nil
}

// Next returns the next batch, which is valid until Next or Stop, or io.EOF after the last one.
// The error of ctx ends only the wait: Next can be called again. Any other error is
// that of a sample, and Next returns it from then on.
func (r *Run) Next(ctx context.Context) (*Batch, error) {
	if r.given {
		r.given, r.asked = false, false
		r.recycle(r.at)
		r.at++
	}
	switch {
	case r.err != nil:
		return nil, r.err
	case r.at == r.batches:
		return nil, io.EOF
	}
	b, err := r.wait(ctx, r.at)
	if err != nil {
		return nil, err
	}
	r.given = true
	return b, nil
}

// Stop stops the workers, waits for them and takes all batches back.
func (r *Run) Stop() {
	r.stop()
	r.workers.Wait()
	for k := range r.slots {
		if b := r.slots[k].batch; b != nil {
			if r.allocate != nil {
				b.TakeImages()
			}
			r.loader.releaseBatch(b)
			r.slots[k].batch = nil
		}
	}
}

func (r *Run) stop() {
	r.mu.Lock()
	r.stopped.Store(true)
	r.ending.Set()
	r.mu.Unlock()
	r.opened.Broadcast()
}

// slot is the slot of batch k.
func (r *Run) slot(k int) *slot { return &r.slots[k%len(r.slots)] }

// open lets the workers start batch k, whose slot is free.
func (r *Run) open(k int) {
	s := r.slot(k)
	if s.batch == nil {
		s.batch = r.loader.acquireBatch()
		if r.allocate != nil {
			s.batch.TakeImages() // drops the Loader's own memory
		}
	}
	if r.allocate != nil {
		r.lend(s.batch)
	}
	first, size := r.rank.Span(k)
	s.reset(first, size, r.rank.Start+k*r.rank.Batch*r.rank.World)
	s.left.Store(int64(size + r.extraEntries))
	r.loader.frame.reset(s.batch, size)
	s.batch.slot, s.batch.End = s, r.rank.End(k)
	if r.extraEntries > 0 {
		r.loader.frame.reset(&s.previous, 1)
	}
	guard.Renew()
	r.prefetch(first, size)
	r.mu.Lock()
	r.limit.Add(int64(size + r.extraEntries))
	r.mu.Unlock()
	r.opened.Broadcast()
}

// recycle gives batch k's slot to the next batch that uses it.
func (r *Run) recycle(k int) {
	if k += len(r.slots); k < r.batches {
		r.open(k)
	}
}

// prefetch tells the dataset which samples will be read soon.
func (r *Run) prefetch(first, size int) {
	if r.loader.prefetcher == nil {
		return
	}
	r.upcoming = r.upcoming[:0]
	for p := first; p < first+size; p++ {
		r.upcoming = append(r.upcoming, int32(r.loader.samples.At(r.order.At(p%r.order.Len()))))
	}
	r.loader.prefetcher.Prefetch(r.upcoming)
}

// wait waits until batch k is complete.
func (r *Run) wait(ctx context.Context, k int) (*Batch, error) {
	l := r.loader
	start := l.now()
	if !r.asked {
		r.asked = true
		l.asked.Add(1)
		l.ready.Add(r.ready.Load())
	}
	defer func() { l.wait.Add(int64(l.now() - start)) }()
	s := r.slot(k)
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("epoch %d: %w", r.epoch, context.Cause(ctx))
	}
	select {
	case <-s.done:
		r.ready.Add(-1)
		if r.err = s.err; s.err != nil {
			return nil, s.err
		}
		return s.batch, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("epoch %d: %w", r.epoch, context.Cause(ctx))
	}
}

// work builds entries until none is left or the run is stopped.
func (r *Run) work() {
	w := r.loader.acquire()
	defer r.loader.release(w)
	w.stopBy(&r.ending)
	size := int64(r.rank.Batch + r.extraEntries)
	for {
		entry := r.next.Add(1) - 1
		if entry >= r.total || !r.admit(entry) {
			return
		}
		s := r.slot(int(entry / size))
		r.build(w, s, int(entry%size))
		if s.left.Add(-1) == 0 {
			if err := guard.Do(func() error { r.finish(s); return nil }); err != nil {
				s.err = fmt.Errorf("batch at position %d: %w", s.first, err)
			}
			r.ready.Add(1)
			s.done <- struct{}{}
		}
	}
}

// admit waits until entry has a slot; it returns false once the run is stopped. It takes a lock only
// if the loop is behind.
func (r *Run) admit(entry int64) bool {
	if entry >= r.limit.Load() {
		r.mu.Lock()
		for entry >= r.limit.Load() && !r.stopped.Load() {
			r.opened.Wait()
		}
		r.mu.Unlock()
	}
	return !r.stopped.Load()
}

// build builds entry i of the slot's batch; the one after the last is what the first is mixed with.
func (r *Run) build(w *worker, s *slot, i int) {
	b, at, position := s.batch, i, s.first+i
	if i == s.size {
		b, at, position = &s.previous, 0, r.positionBefore(s)
	}
	if err := r.fill(w, s, b, at, position); err != nil {
		s.fail(i, err)
	}
}

// positionBefore is the position before the slot's first, in the global batch treated as circular.
func (r *Run) positionBefore(s *slot) int {
	if s.first > s.step {
		return s.first - 1
	}
	return s.step + s.size*r.rank.World - 1
}
