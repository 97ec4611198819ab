package reader

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/order"
)

// Epoch ranges over this rank's batches of an epoch, in order. A batch is valid until the
// loop's body ends, or until it is released if it is kept. An error, of ctx or of a sample,
// whose key it names, comes with a nil batch and ends the range; batches before the failing
// one still come.
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
	order   order.Order
	share   order.Share
	epoch   int
	batches int
	extra   int   // entries that a batch has besides its own: what its first one is mixed with
	total   int64 // entries
	slots   []slot
	soon    []int32 // scratch of announce

	next  atomic.Int64 // the entry to be made next
	limit atomic.Int64 // entries below it have a slot
	ready atomic.Int64 // batches that are made and wait for the loop

	mu      sync.Mutex // for opened alone
	opened  sync.Cond  // limit or stopped changed
	stopped atomic.Bool
	workers sync.WaitGroup
}

// start sets the workers to work.
func (l *Loader) start(epoch, position int) *run {
	share := l.shareFrom(position)
	r := &run{
		loader:  l,
		order:   l.plan.Epoch(l.config.Seed, epoch),
		share:   share,
		epoch:   epoch,
		batches: share.Batches(),
	}
	if l.mixing != nil {
		r.extra = 1
	}
	r.total = int64(share.Entries() + r.extra*r.batches)
	r.opened.L = &r.mu
	r.slots = make([]slot, min(l.config.Prefetch+1, r.batches))
	for k := range r.slots {
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
		if b := r.slots[k].batch; b != nil {
			r.loader.releaseBatch(b)
		}
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
	if s.batch == nil {
		s.batch = r.loader.acquireBatch()
	}
	first, size := r.share.Span(k)
	s.reset(first, size, r.share.Start+k*r.share.Batch*r.share.World)
	s.left.Store(int64(size + r.extra))
	r.loader.frame.reset(s.batch, size)
	s.batch.slot, s.batch.End = s, r.share.End(k)
	if r.extra > 0 {
		r.loader.frame.reset(&s.before, 1)
	}
	r.announce(first, size)
	r.mu.Lock()
	r.limit.Add(int64(size + r.extra))
	r.mu.Unlock()
	r.opened.Broadcast()
}

// recycle gives batch k's slot to the batch that comes as many later as there are slots.
func (r *run) recycle(k int) {
	if k += len(r.slots); k < r.batches {
		r.open(k)
	}
}

// announce tells the dataset what will be read soon.
func (r *run) announce(first, size int) {
	if r.loader.prefetcher == nil {
		return
	}
	r.soon = r.soon[:0]
	for p := first; p < first+size; p++ {
		r.soon = append(r.soon, int32(r.loader.samples.At(r.order.At(p%r.order.Len()))))
	}
	r.loader.prefetcher.Prefetch(r.soon)
}

// wait waits until batch k is made.
func (r *run) wait(ctx context.Context, k int) (*Batch, error) {
	start := time.Now()
	l := r.loader
	l.asked.Add(1)
	l.ready.Add(r.ready.Load())
	defer func() { l.wait.Add(int64(time.Since(start))) }()
	s := r.slot(k)
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("epoch %d: %w", r.epoch, context.Cause(ctx))
	}
	select {
	case <-s.done:
		r.ready.Add(-1)
		return s.batch, s.err
	case <-ctx.Done():
		return nil, fmt.Errorf("epoch %d: %w", r.epoch, context.Cause(ctx))
	}
}

// work makes entries until there are none left or the run is stopped.
func (r *run) work() {
	w := r.loader.acquire()
	defer r.loader.release(w)
	size := int64(r.share.Batch + r.extra)
	for {
		entry := r.next.Add(1) - 1
		if entry >= r.total || !r.admit(entry) {
			return
		}
		s := r.slot(int(entry / size))
		r.make(w, s, int(entry%size))
		if s.left.Add(-1) == 0 {
			r.finish(s)
			r.ready.Add(1)
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

// draw is a sample, by its number in the split, and the key of what its transforms draw.
type draw struct {
	sample int
	rand   augment.Rand
}

// draw is that of a position; those behind the last wrap around.
func (r *run) draw(position int) draw {
	position %= r.order.Len()
	sample := r.order.At(position)
	return r.loader.draw(sample, position, r.epoch)
}

// draw keys by the sample, so that nothing else decides how it looks; one that may come more
// than once in an epoch by its position.
func (l *Loader) draw(sample, position, epoch int) draw {
	if l.plan.Repeats() {
		return draw{sample, augment.NewRand(l.config.Seed^repeatStream, epoch, position)}
	}
	return draw{sample, augment.NewRand(l.config.Seed, epoch, sample)}
}

// Streams of random numbers apart from those of samples.
const (
	repeatStream     = 0x726570656174 // "repeat"
	mixStream        = 0x6d69786564   // "mixed"
	substituteStream = 0x7375627374   // "subst"
)

// make makes entry i of the slot's batch; the one behind its last is what the first is mixed
// with.
func (r *run) make(w *worker, s *slot, i int) {
	b, at, position := s.batch, i, s.first+i
	if i == s.size {
		b, at, position = &s.before, 0, r.before(s)
	}
	if err := r.fill(w, s, b, at, position); err != nil {
		s.fail(i, err)
	}
}

// before is the position before the slot's first, in the global batch seen as a ring.
func (r *run) before(s *slot) int {
	if s.first > s.step {
		return s.first - 1
	}
	return s.step + s.size*r.share.World - 1
}
