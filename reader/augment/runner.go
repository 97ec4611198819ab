package augment

import (
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/internal/image/pixelops"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/random"
)

// Runner carries out plans. It keeps scratch memory and the resampler's coefficients
// between images; the zero value is ready. It belongs to one goroutine.
type Runner struct {
	resampler resample.Resampler
	enhancer  pixelops.Enhancer
	bufs      [3]pixel.Image // used in turn: a step needs its input, a mirrored copy and its output
	turn      int

	target   resample.Target
	rest     *pixel.Image // what Store stores, nil where that is done
	erasures []erasure    // what Store does then

	shown pixel.Image // to a Func, and what it draws from
	rand  random.Rand
}

// Apply carries out s on src, which has the shape that s was Reset to, or the one that Narrow
// tells of, but for the last pass into the entry t and what is erased there, which Store does;
// t's Part and flips are the plan's. Where s ends in a resample, that is one pass with the
// store. If own, src's pixels may be written to; otherwise they are only read. They and s must
// stay until Store.
func (r *Runner) Apply(s *Steps, src *pixel.Image, own bool, t resample.Target) error {
	if s == nil || src == nil {
		return errors.New("augment: Runner.Apply: the steps or the image is nil")
	}
	t.Region, _ = s.input(len(s.steps))
	at := s.flipsLeft()
	t.Flip, t.FlipV = at.h, at.v
	r.target, r.rest, r.erasures = t, nil, s.erasuresLeft()
	cur := src
	for i := range s.steps {
		st := &s.steps[i]
		window, area := s.input(i)
		in := view{cur, window, st.flips}
		var err error
		switch {
		case st.kind == resizing && i == len(s.steps)-1:
			return r.resampleTo(st, in, area)
		case st.kind == custom:
			cur, err = r.do(&st.call, in, own)
		case st.kind >= enhance:
			cur, err = r.recolor(s, st, in, own)
		case st.kind == affine:
			needed, m := s.mapping(i)
			if i > 0 || !s.narrowed { // else it holds no more
				in = in.within(needed)
			}
			cur, err = r.warp(in, &m)
		default:
			cur, err = r.move(st, in, area)
		}
		if err != nil {
			return err
		}
		own = true
	}
	r.rest = cur
	return nil
}

// Store is the last pass of what was applied, if it was not made yet, and erases.
func (r *Runner) Store() error {
	t, rest := r.target, r.rest
	r.target, r.rest = resample.Target{}, nil
	if rest != nil {
		if err := r.resampler.StoreTo(t, rest); err != nil {
			return err
		}
	}
	for i := range r.erasures {
		if err := r.erasures[i].erase(&t); err != nil {
			return err
		}
	}
	return nil
}

func (r *Runner) resampleTo(s *step, in view, a pixel.Area) error {
	in = r.upright(in)
	if a != (pixel.Area{}) {
		return s.named(r.resampler.ResizeAreaTo(r.target, in.image, a, s.w, s.h, s.filter))
	}
	return s.named(r.resampler.ResizeTo(r.target, in.image, in.window, s.w, s.h, s.filter))
}

// move carries out a step that moves pixels. The area, where there is one, is what of the image
// is resampled instead of the view.
func (r *Runner) move(s *step, in view, a pixel.Area) (*pixel.Image, error) {
	if s.kind != pad {
		in = r.upright(in)
	}
	out := r.scratch()
	switch s.kind {
	case resizing:
		return out, r.resample(out, s, in, a)
	case transpose:
		out.Reset(s.h, s.w, in.image.C, in.image.DType)
		in.transpose(out)
	default:
		out.Reset(s.h, s.w, in.image.C, in.image.DType)
		s.border.pad(out, in)
	}
	return out, nil
}

// warp maps in, which holds what m needs.
func (r *Runner) warp(in view, m *resample.Mapping) (*pixel.Image, error) {
	in = r.upright(in)
	out := r.scratch()
	return out, r.resampler.TransformRegion(out, in.image, in.window, m)
}

func (r *Runner) resample(out *pixel.Image, s *step, in view, a pixel.Area) error {
	if a != (pixel.Area{}) {
		return s.named(r.resampler.ResizeArea(out, in.image, a, s.w, s.h, s.filter))
	}
	return s.named(r.resampler.Resize(out, in.image, in.window, s.w, s.h, s.filter))
}

// named is the error of a resize, if there is one, with its size.
func (s *step) named(err error) error {
	if err != nil {
		err = fmt.Errorf("resize to %dx%d: %w", s.w, s.h, err)
	}
	return err
}

// upright returns v, or a mirrored copy if v has flips.
func (r *Runner) upright(v view) view {
	if v.flips == (flips{}) {
		return v
	}
	return whole(r.copy(v))
}

// copy gives v memory of its own.
func (r *Runner) copy(v view) *pixel.Image {
	out := r.scratch()
	out.Reset(v.window.H, v.window.W, v.image.C, v.image.DType)
	v.place(out, 0, 0)
	return out
}

func (r *Runner) scratch() *pixel.Image {
	r.turn = (r.turn + 1) % len(r.bufs)
	return &r.bufs[r.turn]
}
