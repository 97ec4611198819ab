package augment

import (
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// fewPixels is a size of images that needs no counting: all that a plan makes of them is small.
const fewPixels = 1 << 18

// Room is about how many bytes it takes to carry out p on an image of p's channels, besides the
// image and the entry.
func (p *Plan) Room(d formats.DType) int64 {
	if p.isSmall() {
		return 0
	}
	sum, largest, n := int64(0), int64(0), int64(0)
	for i := range p.steps {
		s := &p.steps[i]
		made := int64(0)
		if s.flips != (flips{}) || s.kind >= enhance {
			made += bytesOf(s.window.H, s.window.W, p.C, d)
		}
		if s.kind == blur {
			n += bytesOf(1, s.window.W+s.color.w, p.C, formats.Float32)
		}
		last := s.kind == resizing && i == len(p.steps)-1
		if s.kind == resizing {
			part := pixel.Rect{W: s.w, H: s.h}
			if last {
				part = p.window
			}
			n += resample.ResizeMemory(s.window.H, s.window.W, s.h, s.w, p.C, part, s.filter, d)
		}
		if !last {
			made += bytesOf(s.h, s.w, p.C, d)
		}
		sum, largest = sum+min(made, huge), max(largest, min(made, huge))
		sum = min(sum, huge)
	}
	return n + min(sum, int64(len(Runner{}.bufs))*largest)
}

// huge stands for all larger numbers of bytes.
const huge = 1 << 55

func (p *Plan) isSmall() bool {
	if p.fromH*p.fromW > fewPixels {
		return false
	}
	for i := range p.steps {
		s := &p.steps[i]
		if s.h > fewPixels || s.w > fewPixels || s.h*s.w > fewPixels {
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
