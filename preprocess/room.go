package preprocess

import (
	"context"
	"fmt"
	"runtime/debug"

	"golang.org/x/sync/semaphore"
)

// A file of a few bytes can claim an image of gigabytes. These bounds hold for images of every
// kind; see the section "What a hostile file may take" of docs/design.md.
const (
	// Budget is how many bytes a process gives at once to images that take more than their
	// modest share. Others of them wait.
	Budget = 1 << 30
	// modest is what every image may take: no ordinary image of a few megapixels waits.
	modest = 32 << 20
	// modestRatio is how many times its file's bytes an image may take: photos take 10 to 20
	// times, whatever their size.
	modestRatio = 32
	// mostShare bounds what an image may take beside the Budget because its file is large. The
	// photos of today's cameras, 50 million pixels, do not wait for each other.
	mostShare = 192 << 20
	// bytesPerPixel of the limit of pixels is what one image may take at all: its colours and a
	// copy of them. With DefaultMaxPixels this is the Budget.
	bytesPerPixel = 6
	// modestOutput is the modest share of what an image is made that waits to be written.
	modestOutput = 64 << 10
	// large is what images take after which memory goes back to the system at once. That of others
	// stays for the next image: to get it anew costs more than many an image's decoding.
	large = 96 << 20
	// unaffordable stands for all larger sizes.
	unaffordable = 1 << 60
)

var shared = semaphore.NewWeighted(Budget)

// Room is what an image takes of the Budget while it is worked on. It belongs to one goroutine;
// the zero value is ready. Most images take nothing of it. Whoever holds room must not wait for
// another image.
type Room struct {
	// Extra is what the caller will take for the image besides what decoding takes.
	Extra int64
	// Made is how many pixels the user wants images to have: room may be for as many, though no
	// file may have them that are more than the limit.
	Made  int
	taken int64
	// beside is what the image may take beside taken.
	beside int64
}

// Take makes room for n bytes and Extra, for an image whose file has size bytes, in place of what r
// has. It waits until there is as much. ErrTooLarge if that is more than an image of maxPixels
// pixels may take.
func (r *Room) Take(n int64, size, maxPixels int) error { return r.takeOr(n, size, maxPixels, nil) }

// dropper has memory that room was taken for.
type dropper interface{ Drop() }

// take is Take; d drops its memory if it is to wait for more.
func (r *Room) takeOr(n int64, size, maxPixels int, d dropper) error {
	n, err := r.need(n, size, maxPixels)
	if err != nil {
		return err
	}
	r.hold(n, d)
	r.beside = share(size)
	return nil
}

// need is what Take takes of the Budget.
func (r *Room) need(n int64, size, maxPixels int) (int64, error) {
	n = min(n, unaffordable) + min(r.Extra, unaffordable)
	if n <= max(modest, share(size)) {
		return 0, nil
	}
	if maxPixels <= 0 {
		maxPixels = DefaultMaxPixels
	}
	maxPixels = max(maxPixels, r.Made)
	if most := max(modest, modestRatio*int64(size), bytesPerPixel*int64(maxPixels)); n > most {
		return 0, fmt.Errorf("%w: it would take %d MB of memory, at the limit of %d pixels an image may take %d MB",
			ErrTooLarge, n/1e6, maxPixels, most/1e6)
	}
	return min(n-share(size), Budget), nil
}

// share is what an image may take, beside the Budget, because its file has size bytes.
func share(size int) int64 { return min(modestRatio*int64(size), mostShare) }

// hold makes r hold n. What r has is given back only if r must wait, for no two may wait for each
// other; then what it was for goes before.
func (r *Room) hold(n int64, d dropper) {
	switch {
	case n == r.taken:
	case n < r.taken:
		shared.Release(r.taken - n)
	case !shared.TryAcquire(n - r.taken):
		if d != nil {
			d.Drop()
		}
		if r.Large() {
			debug.FreeOSMemory()
		}
		r.release()
		_ = shared.Acquire(context.Background(), n) // which ends without an error
	}
	if n > large && !r.Large() {
		debug.FreeOSMemory() // what small images dropped
	}
	r.taken = n
}

// Wait takes room for n bytes, or all of the Budget, whatever they are for.
func (r *Room) Wait(n int64) {
	if n <= modest {
		n = 0
	}
	r.hold(min(n, Budget), nil)
}

// Held reports whether r holds room.
func (r *Room) Held() bool { return r.taken > 0 }

// Large reports whether r holds so much that large buffers are to be dropped before Free.
func (r *Room) Large() bool { return r.taken > large || r.taken > 0 && r.beside+r.taken > mostShare }

// Free gives the room back.
func (r *Room) Free() {
	r.Extra = 0
	if r.Large() {
		debug.FreeOSMemory() // else what was dropped stays beside what comes
	}
	r.release()
}

func (r *Room) release() {
	if r.taken > 0 {
		shared.Release(r.taken)
		r.taken = 0
	}
}

// area is the number of bytes of h by w pixels of size bytes each, which may be a claim that no
// integer holds.
func area(h, w, size int) int64 {
	n := float64(h) * float64(w) * float64(size)
	return int64(min(n, unaffordable))
}
