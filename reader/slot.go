package reader

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/dsconv/dsconv/gpudecode"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/order"
)

// slot holds a batch while it is built. Batch k uses slot k modulo the number of slots.
type slot struct {
	batch    *Batch // nil while the last one is kept by the loop
	previous Batch  // of one entry: what the batch's first entry is mixed with
	step     int    // position of the first entry of all ranks in the epoch
	all      int    // entries of all ranks
	first    int    // position of the first entry of this batch
	size     int
	number   int           // of the batch in the run
	left     atomic.Int64  // entries that are not done yet
	done     chan struct{} // one token when none is left
	err      error         // of the batch

	mu          sync.Mutex
	items       []item // of each entry, and of previous, with DecodeOnGPU
	images      []gpudecode.Image
	outcomes    []gpudecode.Outcome
	failed      []failure
	substituted int
	complete    []int // the entries that did not fail, in order: scratch of finish
}

// failure is an entry whose sample failed.
type failure struct {
	entry int
	err   error
}

func (s *slot) reset(first, size, step, all int) {
	s.step, s.all, s.first, s.size, s.err = step, all, first, size, nil
	s.failed, s.substituted = s.failed[:0], 0
}

func (s *slot) fail(entry int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = append(s.failed, failure{entry, err})
}

// sortFailed sorts the failures by entry, so that nothing depends on timing.
func (s *slot) sortFailed() {
	slices.SortFunc(s.failed, func(a, b failure) int { return a.entry - b.entry })
}

// finish completes the slot's batch after the last of its entries.
func (r *running) finish(s *slot) {
	s.sortFailed()
	for _, f := range s.failed {
		if r.loader.config.OnError != Skip || endsRun(f.err) {
			s.err = f.err
			return
		}
	}
	s.closeGaps(&r.loader.frame)
	b := s.batch
	if b.N == 0 {
		s.err = fmt.Errorf("all %d samples of a batch are bad; the first: %w", s.size, s.failed[0].err)
		return
	}
	b.Substituted = s.substituted
	r.loader.frame.joinFields(b)
	var how *augment.Mixing
	if r.extraEntries > 0 {
		how = r.mix(s)
	}
	r.loader.frame.joinLeft(b, &s.previous, how)
	for to, from := range s.complete {
		if s.first+from >= r.order.Len() {
			r.loader.frame.markPadding(b, to, r.loader.config.Tail == order.Repeat)
		}
	}
}

// closeGaps moves the complete entries together, in their order.
func (s *slot) closeGaps(f *frame) {
	s.complete = s.complete[:0]
	failed := s.failed
	for i := range s.size {
		if len(failed) > 0 && failed[0].entry == i {
			failed = failed[1:]
			continue
		}
		if to := len(s.complete); to != i {
			f.move(s.batch, to, i)
		}
		s.complete = append(s.complete, i)
	}
	if n := len(s.complete); n < s.size {
		f.reset(s.batch, n)
		s.batch.Skipped = s.size - n
	}
}

// mix applies MixUp or CutMix to the slot's batch. If the image before the first one is bad, the
// first is mixed with the last of its own batch.
func (r *running) mix(s *slot) *augment.Mixing {
	f := &r.loader.frame
	if k := len(s.failed); k > 0 && s.failed[k-1].entry == s.size {
		f.copyEntry(&s.previous, 0, s.batch, s.batch.N-1)
		f.copyLeft(&s.previous, 0, s.batch, s.batch.N-1)
	}
	f.follow(s.batch, &s.previous)
	return r.loader.mixer.mix(s.batch, &s.previous, r.epoch, s.step)
}

// resetPrevious makes previous a batch of one entry. Its image lies behind those of b if the consumer mixes.
func (f *frame) resetPrevious(previous, b *Batch) {
	if f.previous == 0 {
		f.reset(previous, 1)
		return
	}
	alone := *f
	alone.previous = 0
	previous.images = b.images[:cap(b.images)][len(b.images):][:f.entryBytes():f.entryBytes()]
	alone.reset(previous, 1)
}

// follow puts the image of previous behind those of b, where the consumer mixes.
func (f *frame) follow(b, previous *Batch) {
	if f.leaves != augment.LeaveFlips {
		return
	}
	b.behind = f.entryBytes()
	copy(b.Previous(), previous.images)
}
