package convert

import (
	"context"
	"sync"

	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/preprocess"
)

// heldMost is how many bytes of images that are far larger than their files may wait to be
// written.
const heldMost = 64 << 20

// held counts the bytes of such images. Samples are committed in order, so that one that is slow
// lets others pile up behind it: then they wait, and so does their worker. Only if the sample that
// is to be committed next has no worker yet, they are put off instead, and are processed when it
// is their turn.
type held struct {
	mu      sync.Mutex
	changed sync.Cond
	bytes   int64
	next    int  // the position to be committed next
	starved bool // it is not done, and no worker has it
	stopped bool
}

// stopWith ends all waiting with ctx.
func (h *held) stopWith(ctx context.Context) (undo func() bool) {
	h.changed.L = &h.mu
	return context.AfterFunc(ctx, func() {
		h.mu.Lock()
		h.stopped = true
		h.mu.Unlock()
		h.changed.Broadcast()
	})
}

// take holds n bytes for j. It is false if j is to be put off.
func (h *held) take(j *job, n int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.bytes+n > heldMost && j.pos != h.next {
		if h.starved || h.stopped {
			return false
		}
		h.changed.Wait()
	}
	h.bytes += n
	j.held += n
	return true
}

// begin notes that a worker has j.
func (h *held) begin(j *job) {
	j.begun.Store(true)
	h.mu.Lock()
	if j.pos == h.next {
		h.starved = false
	}
	h.mu.Unlock()
}

// await notes that j is to be committed next.
func (h *held) await(j *job) {
	h.mu.Lock()
	h.next, h.starved = j.pos, !j.begun.Load()
	h.mu.Unlock()
	h.changed.Broadcast()
}

// drop gives back what j held, and the memory of it.
func (h *held) drop(j *job) {
	if j.held == 0 {
		return
	}
	for i := range j.out.Values {
		j.out.Values[i].Data = nil
	}
	h.mu.Lock()
	h.bytes -= j.held
	h.mu.Unlock()
	j.held = 0
	h.changed.Broadcast()
}

// processLate processes a sample that was put off. It takes room of the Budget for it, and for
// the copies that a writer makes of it, until it is written.
func (r *run) processLate(j *job) (err error) {
	if r.late == nil {
		if r.late, err = preprocess.NewProcessor(r.o.Recipe, r.schema); err != nil {
			return err
		}
		r.late.StopBy(&r.stop)
	}
	j.later = false
	if err := guard.Do(func() error {
		if j.err = r.src.Read(int(r.order[j.pos]), &j.in); j.err == nil {
			r.processOne(r.late, j)
		}
		return nil
	}); err != nil {
		j.err = err
		r.late.Close() // nobody knows what a panic left of it
		r.late = nil
	}
	n := int64(0)
	for i := range j.out.Values {
		n += int64(len(j.out.Values[i].Data))
	}
	r.held.mu.Lock()
	r.held.bytes += n - j.held // some of its fields may be counted already
	r.held.mu.Unlock()
	j.held = n
	r.room.Reserve(3 * j.held)
	return nil
}
