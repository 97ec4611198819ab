package convert

import (
	"context"
	"sync"

	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/preprocess"
)

// heldMost is how many bytes of images that are far larger than their files may wait to be
// written.
const maxOutputBytes = 64 << 20

// held counts the bytes of such images. Samples are committed in order, so that one that is slow
// lets others pile up behind it: then they wait, and so does their worker. Only if the sample that
// is to be committed next has no worker yet, they are put off instead, and are processed when it
// is their turn.
type outputBudget struct {
	mu      sync.Mutex
	changed sync.Cond
	used   int64
	next    int  // the position to be committed next
	nextIdle bool // it is not done, and no worker has it
	stopped bool
}

// stopWith ends all waiting with ctx.
func (h *outputBudget) stopWith(ctx context.Context) (undo func() bool) {
	h.changed.L = &h.mu
	return context.AfterFunc(ctx, func() {
		h.mu.Lock()
		h.stopped = true
		h.mu.Unlock()
		h.changed.Broadcast()
	})
}

// take holds n bytes for j. It is false if j is to be put off.
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

// begin notes that a worker has j.
func (h *outputBudget) started(j *job) {
	j.started.Store(true)
	h.mu.Lock()
	if j.pos == h.next {
		h.nextIdle = false
	}
	h.mu.Unlock()
}

// await notes that j is to be committed next.
func (h *outputBudget) setNext(j *job) {
	h.mu.Lock()
	h.next, h.nextIdle = j.pos, !j.started.Load()
	h.mu.Unlock()
	h.changed.Broadcast()
}

// drop gives back what j held, and the memory of it.
func (h *outputBudget) release(j *job) {
	if j.reserved == 0 {
		return
	}
	for i := range j.out.Values {
		j.out.Values[i].Data = nil
	}
	h.mu.Lock()
	h.used -= j.reserved
	h.mu.Unlock()
	j.reserved = 0
	h.changed.Broadcast()
}

// processLate processes a sample that was put off. It takes room of the Budget for it, and for
// the copies that a writer makes of it, until it is written.
func (r *run) processDeferred(j *job) (err error) {
	if r.deferredProc == nil {
		if r.deferredProc, err = preprocess.NewProcessor(r.o.Recipe, r.schema); err != nil {
			return err
		}
		r.deferredProc.StopBy(&r.stop)
	}
	j.deferred = false
	if err := guard.Do(func() error {
		if j.err = r.src.Read(int(r.order[j.pos]), &j.in); j.err == nil {
			r.processOne(r.deferredProc, j)
		}
		return nil
	}); err != nil {
		j.err = err
		r.deferredProc.Close() // nobody knows what a panic left of it
		r.deferredProc = nil
	}
	n := int64(0)
	for i := range j.out.Values {
		n += int64(len(j.out.Values[i].Data))
	}
	r.budget.mu.Lock()
	r.budget.used += n - j.reserved // some of its fields may be counted already
	r.budget.mu.Unlock()
	j.reserved = n
	r.room.Wait(3 * j.reserved)
	return nil
}
