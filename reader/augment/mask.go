package augment

import (
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Mask makes dst what s makes of a mask of the whole image that s was Reset to: pixels move as
// the image's do, but each is taken as it is (nearest), what comes from outside is 0, and
// nothing changes colour or is erased. Narrow does not matter. dst becomes s.H by s.W with
// mask's channels and type, uint8 or uint16; it must be another image.
func (r *Runner) Mask(s *Steps, mask, dst *pixel.Image) error {
	if s == nil || mask == nil || dst == nil {
		return errors.New("augment: Runner.Mask: the steps, the mask or dst is nil")
	}
	if mask.H != s.fromH || mask.W != s.fromW {
		return fmt.Errorf("the mask is %dx%d, its image %dx%d", mask.W, mask.H, s.fromW, s.fromH)
	}
	cur, window := whole(mask), s.windowOf(len(s.steps))
	for i := range s.steps {
		st := s.steps[i]
		in := cur.part(s.windowOf(i), st.flips)
		if st.kind >= enhance {
			cur = r.upright(in)
			continue
		}
		st.filter, st.affine.Filter = pixel.Nearest, pixel.Nearest
		st.border.fill, st.affine.Fill = nil, nil
		m, err := r.moveMask(s, i, &st, in, &window)
		if err != nil {
			return fmt.Errorf("mask: %w", err)
		}
		cur = whole(m)
	}
	dst.Reset(s.h, s.w, mask.C, mask.DType)
	cur.part(window, s.flips).place(dst, 0, 0)
	return nil
}

// moveMask carries out step i as st says. Where the last one is a resample, only the window of its
// result is made, which then is all of it.
func (r *Runner) moveMask(s *Steps, i int, st *step, in view, window *pixel.Rect) (*pixel.Image, error) {
	if st.kind == affine {
		needed, m := s.mapping(i)
		m.Affine = &st.affine
		return r.warp(in.within(needed), &m)
	}
	if st.kind != resizing || i < len(s.steps)-1 {
		return r.move(st, in, pixel.Area{})
	}
	in = r.upright(in)
	out := r.scratch()
	err := r.resampler.ResizeRegion(out, in.image, in.window, pixel.Area{}, st.w, st.h, *window, st.filter)
	*window = pixel.Rect{W: window.W, H: window.H}
	return out, err
}
