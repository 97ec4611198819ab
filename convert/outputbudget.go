package convert

import (
	"context"
	"sync"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
)

// maxOutputBytes is the most memory for processed images that wait to be written. It counts
// images that are far larger than their files.
const maxOutputBytes = 64 << 20

// outputBudget limits the bytes of such images. Samples are committed in order, so finished images
// pile up behind a slow one. When the budget is used up, a worker waits with its image. If all
// workers wait and none has the sample that is committed next, that would be a deadlock. Therefore,
// while the next sample has no worker, images that do not fit are deferred instead: they are
// processed when it is their turn.
type outputBudget struct {
	mu       sync.Mutex
	changed  sync.Cond
	used     int64
	next     int  // the position that is committed next
	nextIdle bool // no worker has position next yet
	stopped  bool
	fields   fieldBytes
}

// stopWith ends all waiting when ctx ends.
func (h *outputBudget) stopWith(ctx context.Context) (undo func() bool) {
	h.changed.L = &h.mu
	return context.AfterFunc(ctx, func() {
		h.mu.Lock()
		h.stopped = true
		h.mu.Unlock()
		h.changed.Broadcast()
	})
}

// reserve reserves n bytes for j. It returns false if j must be deferred.
func (h *outputBudget) reserve(j *job, n int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.used+n > maxOutputBytes && j.pos != h.next {
		if h.nextIdle || h.stopped {
			return false
		}
		h.changed.Wait()
	}
	h.used += n
	j.reserved += n
	return true
}

// started records that a worker has j.
func (h *outputBudget) started(j *job) {
	j.started.Store(true)
	h.mu.Lock()
	if j.pos == h.next {
		h.nextIdle = false
	}
	h.mu.Unlock()
}

// setNext records that j is committed next.
func (h *outputBudget) setNext(j *job) {
	h.mu.Lock()
	h.next, h.nextIdle = j.pos, !j.started.Load()
	h.mu.Unlock()
	h.changed.Broadcast()
}

// release gives back what j reserved, and drops its images' memory.
func (h *outputBudget) release(j *job) {
	if j.reserved == 0 {
		return
	}
	for i := range j.out.Values {
		j.out.Values[i] = formats.Value{}
	}
	h.mu.Lock()
	h.used -= j.reserved
	h.mu.Unlock()
	j.reserved = 0
	h.changed.Broadcast()
}

// processDeferred processes a sample that was deferred, in the goroutine that commits. It reserves
// memory for the image, and for the copies that a writer makes of it, until it is written.
func (r *run) processDeferred(ctx context.Context, j *job) (err error) {
	if r.deferredProc == nil {
		if r.deferredProc, err = r.newProcessor(nil); err != nil {
			return err
		}
	}
	j.deferred = false
	var failed error // not the sample's
	if err := guard.Do(func() error {
		if r.growing == nil { // such a source gives a sample once
			j.err = r.readSample(j, &j.in)
		}
		if j.err == nil && r.gpu != nil {
			failed = r.gpu.decode(ctx, j) // one image beyond the stage's room
		}
		if j.err == nil && failed == nil {
			r.processOne(r.deferredProc, j)
		}
		return nil
	}); err != nil {
		j.err = err
		r.deferredProc.Close() // after a panic its state is unknown
		r.deferredProc = nil
	}
	if r.gpu.release(j); failed != nil {
		return failed
	}
	n := int64(0)
	for i := range j.out.Values {
		n += int64(len(j.out.Values[i].Data))
	}
	r.budget.mu.Lock()
	r.budget.used += n - j.reserved // some fields may be counted already
	r.budget.mu.Unlock()
	j.reserved = n
	r.room.Reserve(3 * j.reserved)
	return nil
}
