package convert

import (
	"context"
	"runtime/debug"
	"sync"

	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/image/budget"
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
	clear(j.out.Values)
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

const (
	// minInputBytes and inputBytesEach decide the most bytes of large images of the source that are in memory at once: a
	// minimum, and more for more goroutines, which would wait for each other otherwise. A larger image is alone.
	minInputBytes  = 128 << 20
	inputBytesEach = 16 << 20
)

// limitInputs sets r.inputs for so many jobs and goroutines. What is small enough that all jobs may have one of that size is
// not counted. inputs is nil if all images of the plan are: then nobody asks for their sizes.
func (r *run) limitInputs(jobs, goroutines int) {
	limit := max(minInputBytes, int64(goroutines)*inputBytesEach)
	if inputs := budget.NewInputs(limit, max(1, limit/int64(jobs))); inputs.Counts(r.largest) {
		r.inputs = inputs
	}
}

// reserveInput waits until the sample of j may be read. It is called in the order of the jobs, so the sample that is
// committed next never waits for a later one.
func (r *run) reserveInput(ctx context.Context, j *job) (err error) {
	if r.inputs == nil {
		return nil
	}
	in, err := r.src.Info(r.order.at(j.pos))
	if err != nil {
		return nil //nolint:nilerr // reading it says so
	}
	j.inputBytes, err = r.inputs.Reserve(ctx, in.Size)
	return err
}

// releaseInput frees the memory of j's sample if that is large.
func (r *run) releaseInput(j *job) {
	r.budget.releaseFields(j)
	if j.inputBytes == 0 {
		return
	}
	clear(j.in.Values)
	clear(j.out.Values)
	r.inputs.Release(j.inputBytes)
	j.inputBytes = 0
}

const (
	// maxFieldBytes is the most memory of values besides the designated image that wait to be written, before no further
	// sample is read.
	maxFieldBytes = 128 << 20
	// smallFields are not counted: all jobs may have as much. aloneFields are so large that one sample is read at a time.
	smallFields = maxFieldBytes / 512
	aloneFields = maxFieldBytes / 4
	// freedFields is the size from which on memory is returned to the system at once.
	freedFields = 64 << 20
)

// fieldBytes is the part of an outputBudget that counts values of a source besides the designated images. Their sizes are
// known when they are read, so what is in progress then goes beyond the limit: one sample at first and after a large one, else
// one for each reader.
type fieldBytes struct {
	used   int64
	alone  bool // some sample is read alone
	spread bool // the last sample was small enough for several at once
}

// admit waits until the sample of j may be read. It returns whether it is read alone, which keep needs to know. Samples are
// read in the order of their positions, so the one that is committed next never waits for memory of a later one.
func (h *outputBudget) admit(j *job) (alone bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for (h.fields.alone || h.fields.used >= maxFieldBytes && j.pos != h.next) && !h.stopped {
		h.changed.Wait()
	}
	alone = !h.fields.spread
	h.fields.alone = h.fields.alone || alone
	return alone
}

// keep counts what was read of j; image is the number of the designated image.
func (h *outputBudget) keep(j *job, image int, alone bool) {
	n := int64(0)
	for i := range j.in.Values {
		if i != image {
			n += int64(len(j.in.Values[i].Data))
		}
	}
	if n > smallFields {
		j.fieldBytes = 2 * n // processing may copy them
	}
	h.mu.Lock()
	h.fields.used += j.fieldBytes
	h.fields.spread = n < aloneFields
	if alone {
		h.fields.alone = false
	}
	h.mu.Unlock()
	h.changed.Broadcast()
}

// releaseFields frees what keep counted.
func (h *outputBudget) releaseFields(j *job) {
	if j.fieldBytes == 0 {
		return
	}
	clear(j.in.Values)
	clear(j.out.Values)
	if j.fieldBytes >= freedFields {
		debug.FreeOSMemory()
	}
	h.mu.Lock()
	h.fields.used -= j.fieldBytes
	h.mu.Unlock()
	j.fieldBytes = 0
	h.changed.Broadcast()
}
