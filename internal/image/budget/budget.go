// Package budget limits the memory that all images of a process take at once, whatever their headers
// claim. See the section "What a hostile file may take" of docs/design.md.
package budget

import (
	"context"
	"fmt"
	"runtime/debug"

	"golang.org/x/sync/semaphore"

	"github.com/dsconv/dsconv/preprocess/pixel"
)

// A file of a few bytes can claim an image of gigabytes. These limits hold for images of every
// kind; see the section "What a hostile file may take" of docs/design.md.
const (
	// Budget is the memory budget: the bytes that images of a process may reserve at once. Images
	// beyond it wait.
	Budget = 1 << 30
	// UnreservedBytes is what every image may take without a reservation: no ordinary image of a
	// few megapixels waits.
	UnreservedBytes = 32 << 20
	// UnreservedRatio is how many times the bytes of its file an image may take without a
	// reservation: photos take 10 to 20 times, whatever their size.
	UnreservedRatio = 32
	// maxAllowance limits what an image may take without a reservation because its file is large.
	// Photos of today's cameras, 50 million pixels, do not wait for each other.
	maxAllowance = 192 << 20
	// bytesPerPixel times the limit of pixels is the most one image may take: its colours and a
	// copy. With DefaultMaxPixels this is the Budget.
	bytesPerPixel = 6
	// UnreservedOutput is the size up to which any output may wait to be written without a
	// reservation.
	UnreservedOutput = 64 << 10
	// largeImage is the size of images after which memory is returned to the system at once. That
	// of smaller ones stays for the next image: to get it again often costs more than decoding.
	largeImage = 96 << 20
	// tooManyBytes stands for all larger sizes.
	tooManyBytes = 1 << 60
)

// Shared is the Budget that all images of the process share.
var Shared = semaphore.NewWeighted(Budget)

// Reservation is an image's share of the Budget while it is processed. It is for one goroutine. The
// zero value is ready. Most images reserve nothing. A goroutine that holds a reservation must not
// wait for another image.
type Reservation struct {
	// Extra is the memory that the caller needs for the image in addition to decoding.
	Extra int64
	// OutputPixels is the number of pixels of resized images. It raises the memory limit, but not
	// the limit of pixels in a file.
	OutputPixels int
	Taken        int64
	// allowance is what the image may take in addition to taken.
	allowance int64
}

// ReserveImage reserves n bytes and Extra for an image whose file has size bytes, in place of what r
// holds. It waits until the Budget allows it. It returns ErrTooLarge if that is more than an image
// of maxPixels pixels may take.
func (r *Reservation) ReserveImage(n int64, size, maxPixels int) error {
	return r.ReserveImageOr(n, size, maxPixels, nil)
}

// dropper owns buffers that memory was reserved for.
type dropper interface{ Drop() }

// ReserveImageOr is ReserveImage; d drops its buffers if r must wait.
func (r *Reservation) ReserveImageOr(n int64, size, maxPixels int, d dropper) error {
	n, err := r.Amount(n, size, maxPixels)
	if err != nil {
		return err
	}
	r.Set(n, d)
	r.allowance = Allowance(size)
	return nil
}

// Amount is what ReserveImage reserves of the Budget.
func (r *Reservation) Amount(n int64, size, maxPixels int) (int64, error) {
	n = min(n, tooManyBytes) + min(r.Extra, tooManyBytes)
	if n <= max(UnreservedBytes, Allowance(size)) {
		return 0, nil
	}
	if maxPixels <= 0 {
		maxPixels = pixel.DefaultMaxPixels
	}
	maxPixels = max(maxPixels, r.OutputPixels)
	if limit := max(UnreservedBytes, UnreservedRatio*int64(size), bytesPerPixel*int64(maxPixels)); n > limit {
		return 0, fmt.Errorf("%w: it would take %d MB of memory; with a limit of %d pixels an image may take %d MB",
			pixel.ErrTooLarge, n/1e6, maxPixels, limit/1e6)
	}
	return min(n-Allowance(size), Budget), nil
}

// Allowance is what an image may take without a reservation because its file has size bytes.
func Allowance(size int) int64 { return min(UnreservedRatio*int64(size), maxAllowance) }

// Set makes r hold n bytes. If r must wait, it first releases what it holds, so that no two wait for
// each other; before that, d drops the buffers it was for.
func (r *Reservation) Set(n int64, d dropper) {
	switch {
	case n == r.Taken:
	case n < r.Taken:
		Shared.Release(r.Taken - n)
	case !Shared.TryAcquire(n - r.Taken):
		if d != nil {
			d.Drop()
		}
		if r.Large() {
			debug.FreeOSMemory()
		}
		r.release()
		_ = Shared.Acquire(context.Background(), n) // cannot fail: the context does not end
	}
	if n > largeImage && !r.Large() {
		debug.FreeOSMemory() // memory of earlier, small images
	}
	r.Taken = n
}

// Reserve reserves n bytes for any purpose, at most all of the Budget. It waits until they are free.
func (r *Reservation) Reserve(n int64) {
	if n <= UnreservedBytes {
		n = 0
	}
	r.Set(min(n, Budget), nil)
}

// Held reports whether r holds a reservation.
func (r *Reservation) Held() bool { return r.Taken > 0 }

// Large reports whether r holds so much that large buffers must be dropped before Release.
func (r *Reservation) Large() bool {
	return r.Taken > largeImage || r.Taken > 0 && r.allowance+r.Taken > maxAllowance
}

// Release gives the reservation back.
func (r *Reservation) Release() {
	r.Extra = 0
	if r.Large() {
		debug.FreeOSMemory() // else dropped memory adds to that of the next image
	}
	r.release()
}

func (r *Reservation) release() {
	if r.Taken > 0 {
		Shared.Release(r.Taken)
		r.Taken = 0
	}
}

// ImageBytes is the number of bytes of h by w pixels of size bytes each. h and w may be claims of a
// file: the product may exceed an int64.
func ImageBytes(h, w, size int) int64 {
	n := float64(h) * float64(w) * float64(size)
	return int64(min(n, tooManyBytes))
}

const (
	// largeInput is the size from which on the bytes of an encoded image, which are in memory as a whole, are counted.
	largeInput = 32 << 20
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
var SharedInputs = NewInputs(InputBudget, largeInput)

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
