package augment

import (
	"github.com/dsconv/dsconv/internal/image/geometry"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

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
