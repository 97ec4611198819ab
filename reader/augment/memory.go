package augment

import (
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// fewPixels is a size of images that needs no counting: all that a plan makes of them is small.
const fewPixels = 1 << 18

// Room is about how many bytes it takes to carry out s on an image of s's channels, besides the
// image and the entry.
func (s *Steps) Room(d formats.DType) int64 {
	if s.isSmall() {
		return 0
	}
	sum, largest, n := int64(0), int64(0), int64(0)
	for i := range s.steps {
		made, scratch := s.stepRoom(i, d)
		n += scratch
		sum, largest = sum+min(made, huge), max(largest, min(made, huge))
		sum = min(sum, huge)
	}
	return n + min(sum, int64(len(Runner{}.bufs))*largest)
}

// stepRoom is how many bytes of images step i makes, and how many it takes besides.
func (s *Steps) stepRoom(i int, d formats.DType) (made, scratch int64) {
	st := &s.steps[i]
	in, out := st.window, pixel.Rect{W: st.w, H: st.h}
	switch {
	case st.kind == blur:
		scratch = bytesOf(1, in.W+st.color.w, s.c, formats.Float32)
	case st.kind == affine:
		in, _ = s.mapping(i)
		out = s.windowAfter(i)
		scratch = bytesOf(in.H, in.W, s.c, d) // premultiplied, if it has an alpha channel
	case st.kind == resizing && i == len(s.steps)-1:
		scratch = resample.ResizeMemory(in.H, in.W, st.h, st.w, s.c, s.window, st.filter, d)
		out = pixel.Rect{}
	case st.kind == resizing:
		scratch = resample.ResizeMemory(in.H, in.W, st.h, st.w, s.c, out, st.filter, d)
	}
	if st.flips != (flips{}) || st.kind >= enhance {
		made = bytesOf(in.H, in.W, s.c, d)
	}
	return made + bytesOf(out.H, out.W, s.c, d), scratch
}

// huge stands for all larger numbers of bytes.
const huge = 1 << 55

func (s *Steps) isSmall() bool {
	if s.fromH*s.fromW > fewPixels {
		return false
	}
	for i := range s.steps {
		st := &s.steps[i]
		if st.h > fewPixels || st.w > fewPixels || st.h*st.w > fewPixels {
			return false
		}
	}
	return true
}

func bytesOf(h, w, c int, d formats.DType) int64 {
	return int64(min(float64(h)*float64(w)*float64(c*d.Size()), huge))
}

// Shrink drops large buffers.
func (r *Runner) Shrink() {
	r.resampler.Shrink()
	r.enhancer.Shrink()
	for i := range r.bufs {
		r.bufs[i].Shrink()
	}
	r.rest, r.target = nil, resample.Target{}
}
