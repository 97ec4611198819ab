package budget

import (
	"context"
	"runtime/debug"

	"golang.org/x/sync/semaphore"
)

const (
	// LargeInput is the size from which on the bytes of an encoded image, which are in memory as a whole, are counted.
	LargeInput = 32 << 20
	// InputBudget is the most such bytes of a process at once. A larger image is alone.
	InputBudget = 256 << 20
	// largeBuffer is the size of buffers whose memory is returned to the system at once.
	largeBuffer = 64 << 20
)

// Inputs is a limit of bytes of encoded images in memory. Shared counts what they are decoded to. Reserve first of Inputs, then of Shared.
type Inputs struct {
	room  *semaphore.Weighted
	limit int64
	large int64
}

// NewInputs returns a limit of limit bytes for images of at least large bytes. Smaller ones are not counted.
func NewInputs(limit, large int64) *Inputs {
	return &Inputs{room: semaphore.NewWeighted(limit), limit: limit, large: large}
}

// SharedInputs is the InputBudget of all readers of the process.
var SharedInputs = NewInputs(InputBudget, LargeInput)

// Counts reports whether images of that size are counted.
func (i *Inputs) Counts(size int64) bool { return size >= i.large }

// Reserve waits until an image of size bytes may be read, and returns what Release gives back: 0 for one that is not
// counted. The error is that of ctx.
func (i *Inputs) Reserve(ctx context.Context, size int64) (int64, error) {
	if !i.Counts(size) {
		return 0, nil
	}
	n := min(size, i.limit)
	if err := i.room.Acquire(ctx, n); err != nil {
		return 0, err
	}
	return n, nil
}

// Release gives n bytes back. The buffers must be dropped: the memory of large ones is returned to the system before the next
// image is read.
func (i *Inputs) Release(n int64) {
	if n >= min(largeBuffer, i.limit) {
		debug.FreeOSMemory()
	}
	if n > 0 {
		i.room.Release(n)
	}
}
