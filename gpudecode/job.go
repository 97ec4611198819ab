//go:build linux && cgo

package gpudecode

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/preprocess/pixel"
)

// job is an image on its way through a Decoder.
type job struct {
	*Image
	header
	outcome Outcome    // its Path is the one to try next, until done
	slot    int        // of the engine's nvJPEG images
	asked   pixel.Rect // the Window, in the image's pixels
	part    pixel.Rect // what is decoded
	scale   int        // by which the engine reduces that: 1, 2, 4 or 8
	// Where the decoded pixels lie in Decoder.pixels, and what of them is the Window.
	place, pitch       int
	decodedW, decodedH int
	window             pixel.Rect
	channels           int
	missing            bool   // pixels were not written
	tooStrong          bool   // a reduction that the kernel does not do
	status             string // nvJPEG's, if that failed
}

// rowBytes is the length of a row of decoded pixels.
func (j *job) rowBytes() int { return j.decodedW * j.channels }

// rowAlignment is what rows of decoded pixels begin at multiples of.
const rowAlignment = 64

// leastRow is the least bytes of a row of which canaries tell whether it was written.
const leastRow = 8

// decodes sets which part of the image is decoded, and its size.
func (j *job) decodes(part pixel.Rect, scale int) {
	j.part, j.scale = part, scale
	j.decodedW, j.decodedH = (part.W+scale-1)/scale, (part.H+scale-1)/scale
	j.pitch = roundUp(j.rowBytes(), rowAlignment)
	w := j.asked
	j.window = pixel.Rect{X: (w.X - part.X) / scale, Y: (w.Y - part.Y) / scale}
	j.window.W = (w.X-part.X+w.W+scale-1)/scale - j.window.X
	j.window.H = (w.Y-part.Y+w.H+scale-1)/scale - j.window.Y
}

// bytes is the memory for the decoded pixels, and for more of them if the engine reduces the image and another path has
// to decode it after all.
func (j *job) bytes() int { return j.pitch * j.decodedH * j.scale * j.scale }

// reduction is by how much the engine may reduce the image so that the Window keeps at least the size that is wanted
// and its edges stay between pixels: 1, 2, 4 or 8.
func (j *job) reduction() int {
	fits := func(from, size, whole, wanted, n int) bool {
		return from%n == 0 && ((from+size)%n == 0 || from+size == whole) && size/n >= wanted
	}
	w := j.asked
	for n := 8; n > 1; n /= 2 {
		if fits(w.X, w.W, j.w, j.W, n) && fits(w.Y, w.H, j.h, j.H, n) {
			return n
		}
	}
	return 1
}

// fail notes why the path that was tried failed: the next one is tried.
func (j *job) fail(reason string) {
	j.outcome.Reason = reason
	if j.outcome.Path == Engine {
		j.outcome.Path = CUDA
	} else {
		j.outcome.Path = CPU
	}
}

// leave leaves the image to the CPU.
func (j *job) leave(reason string) { j.outcome = Outcome{Path: CPU, Reason: reason} }

// prepare decides whether and how the GPU decodes the image. most is the most bytes of decoded pixels.
func (j *job) prepare(channels, most int) {
	j.channels = channels
	if j.JPEG == nil {
		j.leave(j.Reason)
		return
	}
	h, reason := inspect(j.JPEG, channels)
	if reason != "" {
		j.leave(reason)
		return
	}
	j.header = h
	j.asked = cmp.Or(j.Window, pixel.Rect{W: h.w, H: h.h})
	if !j.asked.Inside(h.w, h.h) {
		j.leave(ReasonWindow)
		return
	}
	j.decodes(h.region(j.asked), 1)
	switch {
	case j.bytes() > most:
		j.leave(ReasonSize)
	case j.rowBytes() < leastRow:
		j.leave(ReasonSmall)
	default:
		j.outcome.Path = CUDA
	}
}

// size is the length of the result in bytes.
func (j *Image) size(pixelSize int) int {
	if j.JPEG == nil {
		return len(j.Ready)
	}
	if j.Region != (pixel.Rect{}) {
		return j.Region.W * j.Region.H * pixelSize
	}
	return j.W * j.H * pixelSize
}

// check returns an error for an image that is not decoded because of the caller.
func (j *Image) check(pixelSize, elementSize, most int) error {
	if j.JPEG != nil {
		switch {
		case j.CPU == nil:
			return errors.New("its CPU is nil")
		case j.H <= 0 || j.W <= 0:
			return fmt.Errorf("its size is %dx%d", j.H, j.W)
		case j.Region == (pixel.Rect{}) && j.W > most/j.H:
			return fmt.Errorf("its size %dx%d is more than the memory has", j.H, j.W)
		case j.Region != (pixel.Rect{}) && !j.Region.Inside(j.W, j.H):
			return fmt.Errorf("its region %+v is not inside %dx%d", j.Region, j.W, j.H)
		}
		f := j.Filter
		if err := f.UnmarshalText([]byte(f)); err != nil {
			return err
		}
	}
	if j.At < 0 || j.At%elementSize != 0 || j.size(pixelSize) > most-j.At {
		return fmt.Errorf("%d bytes at %d of %d, which must be a multiple of %d", j.size(pixelSize), j.At, most, elementSize)
	}
	return nil
}
