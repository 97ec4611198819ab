package reader

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/dsconv/dsconv/preprocess"
)

// slot is a place for a batch in the making. Batch k goes through slot k modulo the
// number of slots.
type slot struct {
	batch  *Batch // nil while the last one is kept by the loop
	before Batch  // of one: what the batch's first entry is mixed with
	step   int    // position of the first entry of all ranks in the epoch
	first  int    // that of the first entry here
	size   int
	left   atomic.Int64  // entries that are still to be made
	done   chan struct{} // one token when none is left
	err    error         // of the batch

	mu          sync.Mutex
	failed      []failure
	substituted int
	made        []int // the entries that were, in order: scratch of finish
}

// failure is an entry that could not be made.
type failure struct {
	entry int
	err   error
}

func (s *slot) reset(first, size, step int) {
	s.step, s.first, s.size, s.err = step, first, size, nil
	s.failed, s.substituted = s.failed[:0], 0
}

func (s *slot) fail(entry int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = append(s.failed, failure{entry, err})
}

// finish makes a batch of the slot's entries, all of which were tried.
func (r *Run) finish(s *slot) {
	// By entry, so that nothing depends on timing.
	slices.SortFunc(s.failed, func(a, b failure) int { return a.entry - b.entry })
	for _, f := range s.failed {
		if r.loader.config.OnError != Skip || preprocess.EndsRun(f.err) {
			s.err = f.err
			return
		}
	}
	s.closeGaps(&r.loader.frame)
	b := s.batch
	if b.N == 0 {
		s.err = fmt.Errorf("none of the %d samples of a batch could be used: %w", s.size, s.failed[0].err)
		return
	}
	b.Substituted = s.substituted
	r.loader.frame.joinFields(b)
	if r.extra > 0 {
		r.mix(s)
	}
	for to, from := range s.made {
		if s.first+from >= r.rank.Len {
			r.loader.frame.markPadding(b, to, r.loader.config.LabelPadding)
		}
	}
}

// closeGaps moves the entries together that were made, in their order.
func (s *slot) closeGaps(f *frame) {
	s.made = s.made[:0]
	failed := s.failed
	for i := range s.size {
		if len(failed) > 0 && failed[0].entry == i {
			failed = failed[1:]
			continue
		}
		if to := len(s.made); to != i {
			f.move(s.batch, to, i)
		}
		s.made = append(s.made, i)
	}
	if n := len(s.made); n < s.size {
		f.shorten(s.batch, n)
		s.batch.Skipped = s.size - n
	}
}

// mix mixes the slot's batch. Where the image before its first one is bad, that is mixed with
// its own batch's last.
func (r *Run) mix(s *slot) {
	f := &r.loader.frame
	if k := len(s.failed); k > 0 && s.failed[k-1].entry == s.size {
		f.copyEntry(&s.before, 0, s.batch, s.batch.N-1)
	}
	r.loader.mixing.mix(s.batch, &s.before, r.epoch, s.step)
}
