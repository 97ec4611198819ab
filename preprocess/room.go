package preprocess

import (
	"context"
	"fmt"
	"runtime/debug"
	"unsafe"

	"golang.org/x/sync/semaphore"
)

// A file of a few bytes can claim an image of gigabytes. These bounds hold for images of every
// kind; see the section "What a hostile file may take" of docs/design.md.
const (
	// Budget is how many bytes a process gives at once to images that take more than their
	// modest share. Others of them wait.
	Budget = 1 << 30
	// modest is what every image may take: no ordinary image of a few megapixels waits.
	unreservedBytes = 32 << 20
	// modestRatio is how many times its file's bytes an image may take: photos take 10 to 20
	// times, whatever their size.
	unreservedRatio = 32
	// mostShare bounds what an image may take beside the Budget because its file is large. The
	// photos of today's cameras, 50 million pixels, do not wait for each other.
	maxAllowance = 192 << 20
	// bytesPerPixel of the limit of pixels is what one image may take at all: its colours and a
	// copy of them. With DefaultMaxPixels this is the Budget.
	bytesPerPixel = 6
	// modestOutput is the modest share of what an image is made that waits to be written.
	unreservedOutput = 64 << 10
	// large is what images take after which memory goes back to the system at once. That of others
	// stays for the next image: to get it anew costs more than many an image's decoding.
	largeImage = 96 << 20
	// keptBuffer is the largest buffer that is kept after a large image.
	maxKeptBuffer = 4 << 20
	// unaffordable stands for all larger sizes.
	tooManyBytes = 1 << 60
)

var budget = semaphore.NewWeighted(Budget)

// Room is what an image takes of the Budget while it is worked on. It belongs to one goroutine;
// the zero value is ready. Most images take nothing of it. Whoever holds room must not wait for
// another image.
type Reservation struct {
	// Extra is what the caller will take for the image besides what decoding takes.
	Extra int64
	// Made is how many pixels the user wants images to have: room may be for as many, though no
	// file may have them that are more than the limit.
	OutputPixels int
	held         int64
	// beside is what the image may take beside held.
	allowance int64
}

// Take makes room for n bytes and Extra, for an image whose file has size bytes, in place of what r
// has. It waits until there is as much. ErrTooLarge if that is more than an image of maxPixels
// pixels may take.
func (r *Reservation) ReserveImage(n int64, size, maxPixels int) error {
	return r.reserveImage(n, size, maxPixels, nil)
}

// dropper has memory that room was taken for.
type dropper interface{ drop() }

// take is Take; d drops its memory if it is to wait for more.
func (r *Reservation) reserveImage(n int64, size, maxPixels int, d dropper) error {
	n, err := r.amount(n, size, maxPixels)
	if err != nil {
		return err
	}
	r.set(n, d)
	r.allowance = allowance(size)
	return nil
}

// need is what Take takes of the Budget.
func (r *Reservation) amount(n int64, size, maxPixels int) (int64, error) {
	n = min(n, tooManyBytes) + min(r.Extra, tooManyBytes)
	if n <= max(unreservedBytes, allowance(size)) {
		return 0, nil
	}
	if maxPixels <= 0 {
		maxPixels = DefaultMaxPixels
	}
	maxPixels = max(maxPixels, r.OutputPixels)
	if most := max(unreservedBytes, unreservedRatio*int64(size), bytesPerPixel*int64(maxPixels)); n > most {
		return 0, fmt.Errorf("%w: it would take %d MB of memory, at the limit of %d pixels an image may take %d MB",
			ErrTooLarge, n/1e6, maxPixels, most/1e6)
	}
	return min(n-allowance(size), Budget), nil
}

// share is what an image may take, beside the Budget, because its file has size bytes.
func allowance(size int) int64 { return min(unreservedRatio*int64(size), maxAllowance) }

// hold makes r hold n. What r has is given back only if r must wait, for no two may wait for each
// other; then what it was for goes before.
func (r *Reservation) set(n int64, d dropper) {
	switch {
	case n == r.held:
	case n < r.held:
		budget.Release(r.held - n)
	case !budget.TryAcquire(n - r.held):
		if d != nil {
			d.drop()
		}
		if r.Large() {
			debug.FreeOSMemory()
		}
		r.release()
		_ = budget.Acquire(context.Background(), n) // which ends without an error
	}
	if n > largeImage && !r.Large() {
		debug.FreeOSMemory() // what small images dropped
	}
	r.held = n
}

// Wait takes room for n bytes, or all of the Budget, whatever they are for.
func (r *Reservation) Reserve(n int64) {
	if n <= unreservedBytes {
		n = 0
	}
	r.set(min(n, Budget), nil)
}

// Held reports whether r holds room.
func (r *Reservation) Held() bool { return r.held > 0 }

// Large reports whether r holds so much that large buffers are to be dropped before Free.
func (r *Reservation) Large() bool {
	return r.held > largeImage || r.held > 0 && r.allowance+r.held > maxAllowance
}

// Free gives the room back.
func (r *Reservation) Release() {
	r.Extra = 0
	if r.Large() {
		debug.FreeOSMemory() // else what was dropped stays beside what comes
	}
	r.release()
}

func (r *Reservation) release() {
	if r.held > 0 {
		budget.Release(r.held)
		r.held = 0
	}
}

// Shrink drops m's memory if it is large.
func (m *Image) Shrink() { m.Pix = dropLarge(m.Pix) }

// shrunk is s, or nil if s is a large buffer.
func dropLarge[T any](s []T) []T {
	var element T
	if cap(s)*int(unsafe.Sizeof(element)) > maxKeptBuffer {
		return nil
	}
	return s
}

// area is the number of bytes of h by w pixels of size bytes each, which may be a claim that no
// integer holds.
func imageBytes(h, w, size int) int64 {
	n := float64(h) * float64(w) * float64(size)
	return int64(min(n, tooManyBytes))
}
