package augment

import (
	"math"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/geometry"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Leaving says what at the end of the steps a Runner does not carry out, since somebody else does.
type Leaving uint8

const (
	// LeaveNothing carries out all steps.
	LeaveNothing Leaving = iota
	// LeaveErasures leaves out what Steps.Erase added.
	LeaveErasures
	// LeaveFlips leaves out these and the mirroring after the last pass over pixels: see Steps.Flips.
	LeaveFlips
)

// Leave says what Runners leave out of s, until Reset.
func (s *Steps) Leave(l Leaving) { s.leaving = l }

// Flips reports whether the image is mirrored left to right, and top to bottom, after all that changes or moves its
// pixels otherwise.
func (s *Steps) Flips() (h, v bool) { return s.path.Flips.H, s.path.Flips.V }

// flipsLeft is Flips of what a Runner mirrors.
func (s *Steps) flipsLeft() flips {
	if s.leaving == LeaveFlips {
		return flips{}
	}
	return s.path.Flips
}

// erasuresLeft is what a Runner erases.
func (s *Steps) erasuresLeft() []erasure {
	if s.leaving != LeaveNothing {
		return nil
	}
	return s.erasures
}

// Erasure overwrites a region of a batch entry. It comes after the mirroring and Normalize.
type Erasure struct {
	Region pixel.Rect
	// Values are one for each channel or, of Noise, one for each element: of channel 0, row by row, then of channel 1
	// and so on, whatever the layout. Those of a batch of integers are integers that it can hold.
	Values []float32
	Noise  bool
}

// Erasures appends to dst what s erases, in order; it uses again the memory of the Values that lie beyond dst's end.
func (p *Pipeline) Erasures(dst []Erasure, s *Steps) []Erasure {
	for i := range s.erasures {
		e := &s.erasures[i]
		n := len(dst)
		dst = slices.Grow(dst, 1)[:n+1]
		dst[n] = Erasure{Region: e.part, Values: dst[n].Values[:0], Noise: e.values == nil}
		noise, count := e.noise, 1
		if dst[n].Noise {
			count = e.part.W * e.part.H
		}
		for k := range p.c {
			for range count {
				dst[n].Values = append(dst[n].Values, p.erased(e.value(k, &noise)))
			}
		}
	}
	return dst
}

// erased is x as a batch holds it, before it is rounded to a type of floats.
func (p *Pipeline) erased(x float32) float32 {
	switch p.dtype {
	case formats.Uint8:
		return float32(uint8(min(max(x, 0), math.MaxUint8)))
	case formats.Uint16:
		return float32(uint16(min(max(x, 0), math.MaxUint16)))
	}
	return x
}

// Source is the part of the image that the steps use.
func (s *Steps) Source() pixel.Rect { return s.path.Source() }

// Least is the height and width that Source may be scaled down to before the plan is applied,
// because it is resampled to that size; 0 if it must not be.
func (s *Steps) Least() (h, w int) { return s.path.Least() }

// Narrow says that the image that Apply gets next is not whole: Source is its area a, as large as it is, or
// scaled down but not below Least. Nothing else of s changes: masks and boxes are those of the whole image.
func (s *Steps) Narrow(a pixel.Area) { s.path.Narrow(a) }

// Widen takes Narrow back: the image that Apply gets next is whole.
func (s *Steps) Widen() { s.path.Widen() }

// Resampling is what Steps do that are a crop, one resize, another crop and a mirroring, or fewer of these.
type Resampling struct {
	Window pixel.Rect // of the image that is used
	// H and W are what Window is resampled to by Filter; nothing is resampled if they are Window's own.
	H, W   int
	Filter pixel.Filter
	Region pixel.Rect // of the result that is kept
	// Flip mirrors that left to right, FlipV top to bottom.
	Flip, FlipV bool
}

// Resampling returns what the steps do to an image, but for what they erase, if that is a Resampling.
func (s *Steps) Resampling() (r Resampling, ok bool) {
	p := &s.path
	r = Resampling{
		Window: p.Window, H: p.Window.H, W: p.Window.W, Filter: pixel.Bilinear, Region: pixel.Rect{W: p.W, H: p.H},
		Flip: p.Flips.H, FlipV: p.Flips.V,
	}
	if s.err != nil || len(p.Steps) > 1 {
		return Resampling{}, false
	}
	if len(p.Steps) == 1 {
		st := &p.Steps[0]
		if st.Kind != geometry.Resize || st.Flips != (flips{}) {
			return Resampling{}, false
		}
		r.Window, r.H, r.W, r.Filter, r.Region = st.Window, st.H, st.W, st.Filter, p.Window
	}
	return r, true
}
