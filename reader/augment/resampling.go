package augment

import "github.com/dsconv/dsconv/preprocess/pixel"

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
	r = Resampling{
		Window: s.window, H: s.window.H, W: s.window.W, Filter: pixel.Bilinear, Region: pixel.Rect{W: s.w, H: s.h},
		Flip: s.flips.h, FlipV: s.flips.v,
	}
	if s.err != nil || len(s.steps) > 1 {
		return Resampling{}, false
	}
	if len(s.steps) == 1 {
		st := &s.steps[0]
		if st.kind != resizing || st.flips != (flips{}) {
			return Resampling{}, false
		}
		r.Window, r.H, r.W, r.Filter, r.Region = st.window, st.h, st.w, st.filter, s.window
	}
	return r, true
}
