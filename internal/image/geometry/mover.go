package geometry

import (
	"fmt"

	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Mover carries out the steps of paths on pixels. It keeps scratch memory and the resampler's coefficients between
// images; the zero value is ready.
type Mover struct {
	Resampler resample.Resampler
	// Used, if not nil, is called with each image that Move needs no more, before the next one is made.
	Used func(*pixel.Image)

	bufs [Scratch]pixel.Image // used in turn: a step needs its input, a mirrored copy and its output
	turn int
}

// Scratch is how many images a Mover keeps memory for.
const Scratch = 3

// Step carries out step i of p, which is not Still, on the view in. What of an affine step's result is not used is
// not computed.
func (m *Mover) Step(p *Path, i int, in View) (*pixel.Image, error) {
	st := &p.Steps[i]
	if st.Kind == Affine {
		needed, mapping := p.Mapping(i)
		if i > 0 || !p.narrowed { // else it holds no more
			in = in.within(needed)
		}
		return m.warp(in, &mapping)
	}
	_, area := p.Input(i)
	return m.move(st, in, area)
}

// move carries out a step that is not affine. The area, where there is one, is what of the image is resampled
// instead of the view.
func (m *Mover) move(st *Step, in View, a pixel.Area) (*pixel.Image, error) {
	if st.Kind != Pad {
		in = m.Upright(in)
	}
	out := m.scratch()
	switch st.Kind {
	case Resize:
		return out, m.resize(out, st, in, a)
	case Transpose:
		out.Reset(st.H, st.W, in.Image.C, in.Image.DType)
		in.transpose(out)
	default:
		out.Reset(st.H, st.W, in.Image.C, in.Image.DType)
		st.Border.pad(out, in)
	}
	return out, nil
}

// warp maps in, which holds what by needs.
func (m *Mover) warp(in View, by *resample.Mapping) (*pixel.Image, error) {
	in = m.Upright(in)
	out := m.scratch()
	return out, m.Resampler.TransformRegion(out, in.Image, in.Window, by)
}

func (m *Mover) resize(out *pixel.Image, st *Step, in View, a pixel.Area) error {
	if a != (pixel.Area{}) {
		return st.Named(m.Resampler.ResizeArea(out, in.Image, a, st.W, st.H, st.Filter))
	}
	return st.Named(m.Resampler.Resize(out, in.Image, in.Window, st.W, st.H, st.Filter))
}

// Named is the error of a resize, if there is one, with its size.
func (st *Step) Named(err error) error {
	if err != nil {
		err = fmt.Errorf("resize to %dx%d: %w", st.W, st.H, err)
	}
	return err
}

// Upright returns v, or a mirrored copy if v has flips.
func (m *Mover) Upright(v View) View {
	if v.Flips == (Flips{}) {
		return v
	}
	return whole(m.Copy(v))
}

// Copy gives v memory of its own.
func (m *Mover) Copy(v View) *pixel.Image {
	out := m.scratch()
	out.Reset(v.Window.H, v.Window.W, v.Image.C, v.Image.DType)
	v.place(out, 0, 0)
	return out
}

// MakeRoom gives out an image to write to, which is in use until two others were made.
func (m *Mover) MakeRoom() *pixel.Image { return m.scratch() }

func (m *Mover) scratch() *pixel.Image {
	m.turn = (m.turn + 1) % len(m.bufs)
	return &m.bufs[m.turn]
}

// Shrink drops large buffers.
func (m *Mover) Shrink() {
	m.Resampler.Shrink()
	for i := range m.bufs {
		m.bufs[i].Shrink()
	}
}
