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
		st := &s.steps[i]
		made := int64(0)
		if st.flips != (flips{}) || st.kind >= enhance {
			made += bytesOf(st.window.H, st.window.W, s.C, d)
		}
		if st.kind == blur {
			n += bytesOf(1, st.window.W+st.color.w, s.C, formats.Float32)
		}
		last := st.kind == resizing && i == len(s.steps)-1
		if st.kind == resizing {
			part := pixel.Rect{W: st.w, H: st.h}
			if last {
				part = s.window
			}
			n += resample.ResizeMemory(st.window.H, st.window.W, st.h, st.w, s.C, part, st.filter, d)
		}
		if !last {
			made += bytesOf(st.h, st.w, s.C, d)
		}
		sum, largest = sum+min(made, huge), max(largest, min(made, huge))
		sum = min(sum, huge)
	}
	return n + min(sum, int64(len(Runner{}.bufs))*largest)
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
