package bench

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/dsconv/dsconv/reader"
)

const (
	// maxTimelineBatches and maxTimelineLoads limit a Timeline, and so the size of a report.
	maxTimelineBatches = 200
	maxTimelineLoads   = 1500
)

// trace makes the Timeline of one epoch.
type trace struct {
	started time.Time
	batches []BatchTimes
	ended   time.Time

	lock  sync.Mutex // guards loads, which workers add to
	loads []Load
}

// epoch ranges over the batches of an epoch, as Loader.Epoch does, and traces it.
func (t *trace) epoch(ctx context.Context, l *reader.Loader, epoch int) iter.Seq2[*reader.Batch, error] {
	return func(yield func(*reader.Batch, error) bool) {
		defer func() { t.ended = time.Now() }()
		r, err := l.StartWith(ctx, reader.RunOptions{Epoch: epoch, Observe: t.load})
		if err != nil {
			yield(nil, err)
			return
		}
		defer r.Stop()
		for {
			b, err := r.Next(ctx)
			if errors.Is(err, io.EOF) || !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// load notes what a worker did.
func (t *trace) load(s reader.Stretch) {
	t.lock.Lock()
	defer t.lock.Unlock()
	if s.Batch < maxTimelineBatches && len(t.loads) < maxTimelineLoads {
		t.loads = append(t.loads, Load{Worker: s.Worker, Begin: t.at(s.Begin), End: t.at(s.End)})
	}
}

// took notes a batch of the loop.
func (t *trace) took(asked, ready, done time.Time) {
	if len(t.batches) < maxTimelineBatches {
		t.batches = append(t.batches, BatchTimes{Asked: t.at(asked), Ready: t.at(ready), Done: t.at(done)})
	}
}

// at is the seconds since the epoch's start, in microseconds' steps.
func (t *trace) at(when time.Time) float64 {
	return math.Round(max(0, when.Sub(t.started).Seconds())*1e6) / 1e6
}

// timeline is the traced epoch, which has ended; nil if nothing was traced.
func (t *trace) timeline() *Timeline {
	if len(t.batches) == 0 {
		return nil
	}
	slices.SortFunc(t.loads, func(a, b Load) int {
		return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.Worker, b.Worker))
	})
	return &Timeline{Seconds: t.at(t.ended), Batches: t.batches, Loads: t.loads}
}

// Timeline is what the loop and the loader did in one epoch. Times are seconds since the epoch's start.
type Timeline struct {
	Seconds float64 `json:"seconds"`
	// Batches are those of the loop, in order; of a long epoch the first ones.
	Batches []BatchTimes `json:"batches"`
	// Loads are the batches as workers made them.
	Loads []Load `json:"loads,omitempty"`
}

// BatchTimes are of a batch in the loop: it was asked for, was there, and the loop was done with it.
type BatchTimes struct {
	Asked float64 `json:"asked"`
	Ready float64 `json:"ready"`
	Done  float64 `json:"done"`
}

// Load is the time in which a worker made a batch or a part of one.
type Load struct {
	Worker int     `json:"worker"`
	Begin  float64 `json:"begin"`
	End    float64 `json:"end"`
}
