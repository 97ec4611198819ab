package augment

import (
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/geometry"
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
	for i := range s.path.Steps {
		made, scratch := s.stepRoom(i, d)
		n += scratch
		sum, largest = sum+min(made, huge), max(largest, min(made, huge))
		sum = min(sum, huge)
	}
	return n + min(sum, geometry.Scratch*largest)
}

// stepRoom is how many bytes of images step i makes, and how many it takes besides.
func (s *Steps) stepRoom(i int, d formats.DType) (made, scratch int64) {
	st, p := &s.path.Steps[i], &s.passes[i]
	in, out := st.Window, pixel.Rect{W: st.W, H: st.H}
	switch {
	case p.kind == blur:
		scratch = bytesOf(1, in.W+p.color.w, s.c, formats.Float32)
	case st.Kind == geometry.Affine:
		in, _ = s.path.Mapping(i)
		out = s.path.WindowAfter(i)
		scratch = bytesOf(in.H, in.W, s.c, d) // premultiplied, if it has an alpha channel
	case st.Kind == geometry.Resize && i == len(s.path.Steps)-1:
		scratch = resample.ResizeMemory(in.H, in.W, st.H, st.W, s.c, s.path.Window, st.Filter, d)
		out = pixel.Rect{}
	case st.Kind == geometry.Resize:
		scratch = resample.ResizeMemory(in.H, in.W, st.H, st.W, s.c, out, st.Filter, d)
	}
	if st.Flips != (flips{}) || p.kind != moving {
		made = bytesOf(in.H, in.W, s.c, d)
	}
	return made + bytesOf(out.H, out.W, s.c, d), scratch
}

// huge stands for all larger numbers of bytes.
const huge = 1 << 55

func (s *Steps) isSmall() bool {
	if s.path.FromH*s.path.FromW > fewPixels {
		return false
	}
	for i := range s.path.Steps {
		st := &s.path.Steps[i]
		if st.H > fewPixels || st.W > fewPixels || st.H*st.W > fewPixels {
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
	r.mover.Shrink()
	r.enhancer.Shrink()
	r.rest, r.target = nil, resample.Target{}
}
