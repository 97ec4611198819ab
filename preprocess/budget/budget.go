package budget

import (
	"context"
	"fmt"
	"runtime/debug"

	"golang.org/x/sync/semaphore"

	"github.com/dsconv/dsconv/preprocess/pixel"
)

// A file of a few bytes can claim an image of gigabytes. These bounds hold for images of every
// kind; see the section "What a hostile file may take" of docs/design.md.
const (
	// Budget is how many bytes a process gives at once to images that take more than their
	// modest share. Others of them wait.
	Budget = 1 << 30
	// Modest is what every image may take: no ordinary image of a few megapixels waits.
	Modest = 32 << 20
	// ModestRatio is how many times its file's bytes an image may take: photos take 10 to 20
	// times, whatever their size.
	ModestRatio = 32
	// mostShare bounds what an image may take beside the Budget because its file is large. The
	// photos of today's cameras, 50 million pixels, do not wait for each other.
	mostShare = 192 << 20
	// bytesPerPixel of the limit of pixels is what one image may take at all: its colours and a
	// copy of them. With DefaultMaxPixels this is the Budget.
	bytesPerPixel = 6
	// ModestOutput is the modest share of what an image is made that waits to be written.
	ModestOutput = 64 << 10
	// large is what images take after which memory goes back to the system at once. That of others
	// stays for the next image: to get it anew costs more than many an image's decoding.
	large = 96 << 20
	// unaffordable stands for all larger sizes.
	unaffordable = 1 << 60
)

var Shared = semaphore.NewWeighted(Budget)

// Room is what an image takes of the Budget while it is worked on. It belongs to one goroutine;
// the zero value is ready. Most images take nothing of it. Whoever holds room must not wait for
// another image.
type Room struct {
	// Extra is what the caller will take for the image besides what decoding takes.
	Extra int64
	// Made is how many pixels the user wants images to have: room may be for as many, though no
	// file may have them that are more than the limit.
	Made  int
	Taken int64
	// beside is what the image may take beside taken.
	beside int64
}

// Take makes room for n bytes and Extra, for an image whose file has size bytes, in place of what r
// has. It waits until there is as much. ErrTooLarge if that is more than an image of maxPixels
// pixels may take.
func (r *Room) Take(n int64, size, maxPixels int) error { return r.TakeOr(n, size, maxPixels, nil) }

// dropper has memory that room was taken for.
type dropper interface{ Drop() }

// take is Take; d drops its memory if it is to wait for more.
func (r *Room) TakeOr(n int64, size, maxPixels int, d dropper) error {
	n, err := r.Need(n, size, maxPixels)
	if err != nil {
		return err
	}
	r.Hold(n, d)
	r.beside = Share(size)
	return nil
}

// Need is what Take takes of the Budget.
func (r *Room) Need(n int64, size, maxPixels int) (int64, error) {
	n = min(n, unaffordable) + min(r.Extra, unaffordable)
	if n <= max(Modest, Share(size)) {
		return 0, nil
	}
	if maxPixels <= 0 {
		maxPixels = pixel.DefaultMaxPixels
	}
	maxPixels = max(maxPixels, r.Made)
	if most := max(Modest, ModestRatio*int64(size), bytesPerPixel*int64(maxPixels)); n > most {
		return 0, fmt.Errorf("%w: it would take %d MB of memory, at the limit of %d pixels an image may take %d MB",
			pixel.ErrTooLarge, n/1e6, maxPixels, most/1e6)
	}
	return min(n-Share(size), Budget), nil
}

// Share is what an image may take, beside the Budget, because its file has size bytes.
func Share(size int) int64 { return min(ModestRatio*int64(size), mostShare) }

// Hold makes r hold n. What r has is given back only if r must wait, for no two may wait for each
// other; then what it was for goes before.
func (r *Room) Hold(n int64, d dropper) {
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
		_ = Shared.Acquire(context.Background(), n) // which ends without an error
	}
	if n > large && !r.Large() {
		debug.FreeOSMemory() // what small images dropped
	}
	r.Taken = n
}

// Wait takes room for n bytes, or all of the Budget, whatever they are for.
func (r *Room) Wait(n int64) {
	if n <= Modest {
		n = 0
	}
	r.Hold(min(n, Budget), nil)
}

// Held reports whether r holds room.
func (r *Room) Held() bool { return r.Taken > 0 }

// Large reports whether r holds so much that large buffers are to be dropped before Free.
func (r *Room) Large() bool { return r.Taken > large || r.Taken > 0 && r.beside+r.Taken > mostShare }

// Free gives the room back.
func (r *Room) Free() {
	r.Extra = 0
	if r.Large() {
		debug.FreeOSMemory() // else what was dropped stays beside what comes
	}
	r.release()
}

func (r *Room) release() {
	if r.Taken > 0 {
		Shared.Release(r.Taken)
		r.Taken = 0
	}
}

// Area is the number of bytes of h by w pixels of size bytes each, which may be a claim that no
// integer holds.
func Area(h, w, size int) int64 {
	n := float64(h) * float64(w) * float64(size)
	return int64(min(n, unaffordable))
}
