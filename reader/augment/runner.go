package augment

import (
	"github.com/dsconv/dsconv/internal/image/geometry"
	"github.com/dsconv/dsconv/internal/image/pixelops"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/random"
)

// Runner carries out plans. It keeps scratch memory and the resampler's coefficients
// between images; the zero value is ready. It belongs to one goroutine.
type Runner struct {
	mover    geometry.Mover
	enhancer pixelops.Enhancer

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
	t.Region, _ = s.path.Input(len(s.path.Steps))
	at := s.flipsLeft()
	t.Flip, t.FlipV = at.H, at.V
	r.target, r.rest, r.erasures = t, nil, s.erasuresLeft()
	cur := src
	for i := range s.path.Steps {
		st, p := &s.path.Steps[i], &s.passes[i]
		window, area := s.path.Input(i)
		in := geometry.View{Image: cur, Window: window, Flips: st.Flips}
		var err error
		switch {
		case st.Kind == geometry.Resize && i == len(s.path.Steps)-1:
			return r.resampleTo(st, in, area)
		case p.kind == custom:
			cur, err = r.do(&p.call, in, own)
		case p.kind != moving:
			cur, err = r.recolor(s, p, in, own)
		default:
			cur, err = r.mover.Step(&s.path, i, in)
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
		if err := r.mover.Resampler.StoreTo(t, rest); err != nil {
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

func (r *Runner) resampleTo(st *geometry.Step, in geometry.View, a pixel.Area) error {
	in = r.mover.Upright(in)
	if a != (pixel.Area{}) {
		return st.Named(r.mover.Resampler.ResizeAreaTo(r.target, in.Image, a, st.W, st.H, st.Filter))
	}
	return st.Named(r.mover.Resampler.ResizeTo(r.target, in.Image, in.Window, st.W, st.H, st.Filter))
}
