package augment

import (
	"fmt"

	"github.com/dsconv/dsconv/preprocess"
)

// Runner carries out plans. It keeps scratch memory and the resampler's coefficients
// between images; the zero value is ready. It belongs to one goroutine.
type Runner struct {
	resampler preprocess.Resampler
	bufs      [3]preprocess.Image // used in turn: a step needs its input, a mirrored copy and its output
	turn      int

	target preprocess.Target
	rest   *preprocess.Image // what Store stores, nil where that is done
}

// view is a part of an image, mirrored if flip.
type view struct {
	image  *preprocess.Image
	window preprocess.Rect
	flip   bool
}

// whole is all of m.
func whole(m *preprocess.Image) view {
	return view{image: m, window: preprocess.Rect{W: m.W, H: m.H}}
}

// Apply carries out p on src, which has the shape that p was Reset to, but for the last pass
// into the entry t, which Store does; t's Part and Flip are the plan's. Where p ends in a
// resample, that is one pass with the store, and done. If own, src's pixels may be written
// to; otherwise they are only read. They must stay until Store.
func (r *Runner) Apply(p *Plan, src *preprocess.Image, own bool, t preprocess.Target) error {
	t.Part, t.Flip = p.window, p.flip
	r.target, r.rest = t, nil
	cur := src
	for i := range p.steps {
		s := &p.steps[i]
		in := view{image: cur, window: s.window, flip: s.flip}
		var err error
		switch {
		case s.kind == resample && i == len(p.steps)-1:
			return r.resampleTo(s, in)
		case s.kind == resample:
			cur, err = r.resample(s, in)
		case s.kind == pad:
			cur = r.pad(s, in)
		default:
			cur, err = r.adjust(s, in, own)
		}
		if err != nil {
			return err
		}
		own = true
	}
	r.rest = cur
	return nil
}

// Store is the last pass of what was applied, if it was not made yet.
func (r *Runner) Store() error {
	if r.rest == nil {
		return nil
	}
	err := r.resampler.StoreTo(r.target, r.rest)
	r.target, r.rest = preprocess.Target{}, nil
	return err
}

func (r *Runner) resampleTo(s *step, in view) error {
	if in.flip {
		in = whole(r.copy(in))
	}
	var err error
	if s.area != (preprocess.Area{}) {
		err = r.resampler.ResizeAreaTo(r.target, in.image, s.area, s.w, s.h, s.filter)
	} else {
		err = r.resampler.ResizeTo(r.target, in.image, in.window, s.w, s.h, s.filter)
	}
	r.target = preprocess.Target{}
	if err != nil {
		return fmt.Errorf("resize to %dx%d: %w", s.w, s.h, err)
	}
	return nil
}

func (r *Runner) resample(s *step, in view) (*preprocess.Image, error) {
	if in.flip {
		in = whole(r.copy(in))
	}
	out := r.scratch()
	var err error
	if s.area != (preprocess.Area{}) {
		err = r.resampler.ResizeArea(out, in.image, s.area, s.w, s.h, s.filter)
	} else {
		err = r.resampler.Resize(out, in.image, in.window, s.w, s.h, s.filter)
	}
	if err != nil {
		return nil, fmt.Errorf("resize to %dx%d: %w", s.w, s.h, err)
	}
	return out, nil
}

func (r *Runner) pad(s *step, in view) *preprocess.Image {
	out := r.scratch()
	out.Reset(s.h, s.w, in.image.C, in.image.DType)
	clear(out.Pix)
	in.place(out, s.top, s.left)
	return out
}

func (r *Runner) adjust(s *step, in view, own bool) (*preprocess.Image, error) {
	m := in.image
	if !own || in.window.W != m.W || in.window.H != m.H {
		m = r.copy(in)
	}
	return m, s.adjust(m, s.factor)
}

// copy gives v memory of its own.
func (r *Runner) copy(v view) *preprocess.Image {
	out := r.scratch()
	out.Reset(v.window.H, v.window.W, v.image.C, v.image.DType)
	v.place(out, 0, 0)
	return out
}

func (r *Runner) scratch() *preprocess.Image {
	r.turn = (r.turn + 1) % len(r.bufs)
	return &r.bufs[r.turn]
}

// place copies v into m at (left, top).
func (v view) place(m *preprocess.Image, top, left int) {
	pixel := m.C * m.DType.Size()
	for y := range v.window.H {
		src := v.row(y, pixel)
		dst := m.Pix[((top+y)*m.W+left)*pixel:][:len(src)]
		if v.flip {
			mirror(dst, src, pixel)
		} else {
			copy(dst, src)
		}
	}
}

// row is row y of the window, not mirrored.
func (v view) row(y, pixel int) []byte {
	return v.image.Pix[((v.window.Y+y)*v.image.W+v.window.X)*pixel:][:v.window.W*pixel]
}

// mirror copies the pixels of src in reverse order.
func mirror(dst, src []byte, pixel int) {
	for i := 0; i < len(src); i += pixel {
		copy(dst[len(dst)-i-pixel:], src[i:i+pixel])
	}
}
