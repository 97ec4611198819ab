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
}

// View is a part of an image, mirrored if Flip: the outcome of a plan but for the last
// pass. Its pixels are valid until the Runner's next Apply.
type View struct {
	Image  *preprocess.Image
	Window preprocess.Rect
	Flip   bool
}

// whole is all of m.
func whole(m *preprocess.Image) View {
	return View{Image: m, Window: preprocess.Rect{W: m.W, H: m.H}}
}

// Apply carries out p on src, which has the shape that p was Reset to. If own, src's
// pixels may be written to; otherwise they are only read.
func (r *Runner) Apply(p *Plan, src *preprocess.Image, own bool) (View, error) {
	cur := src
	for i := range p.steps {
		s := &p.steps[i]
		in := View{Image: cur, Window: s.window, Flip: s.flip}
		var err error
		switch s.kind {
		case resample:
			cur, err = r.resample(s, in)
		case pad:
			cur = r.pad(s, in)
		case adjust:
			cur, err = r.adjust(s, in, own)
		}
		if err != nil {
			return View{}, err
		}
		own = true
	}
	return View{Image: cur, Window: p.window, Flip: p.flip}, nil
}

func (r *Runner) resample(s *step, in View) (*preprocess.Image, error) {
	if in.Flip {
		in = whole(r.copy(in))
	}
	out := r.scratch()
	if err := r.resampler.Resize(out, in.Image, in.Window, s.w, s.h, s.filter); err != nil {
		return nil, fmt.Errorf("resize to %dx%d: %w", s.w, s.h, err)
	}
	return out, nil
}

func (r *Runner) pad(s *step, in View) *preprocess.Image {
	out := r.scratch()
	out.Reset(s.h, s.w, in.Image.C, in.Image.DType)
	clear(out.Pix)
	in.place(out, s.top, s.left)
	return out
}

func (r *Runner) adjust(s *step, in View, own bool) (*preprocess.Image, error) {
	m := in.Image
	if !own || in.Window.W != m.W || in.Window.H != m.H {
		m = r.copy(in)
	}
	return m, s.adjust(m, s.factor)
}

// copy gives v memory of its own.
func (r *Runner) copy(v View) *preprocess.Image {
	out := r.scratch()
	out.Reset(v.Window.H, v.Window.W, v.Image.C, v.Image.DType)
	v.place(out, 0, 0)
	return out
}

func (r *Runner) scratch() *preprocess.Image {
	r.turn = (r.turn + 1) % len(r.bufs)
	return &r.bufs[r.turn]
}

// place copies v into m at (left, top).
func (v View) place(m *preprocess.Image, top, left int) {
	pixel := m.C * m.DType.Size()
	for y := range v.Window.H {
		src := v.row(y, pixel)
		dst := m.Pix[((top+y)*m.W+left)*pixel:][:len(src)]
		if v.Flip {
			mirror(dst, src, pixel)
		} else {
			copy(dst, src)
		}
	}
}

// row is row y of the window, not mirrored.
func (v View) row(y, pixel int) []byte {
	return v.Image.Pix[((v.Window.Y+y)*v.Image.W+v.Window.X)*pixel:][:v.Window.W*pixel]
}

// mirror copies the pixels of src in reverse order.
func mirror(dst, src []byte, pixel int) {
	for i := 0; i < len(src); i += pixel {
		copy(dst[len(dst)-i-pixel:], src[i:i+pixel])
	}
}
