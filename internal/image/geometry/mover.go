package geometry

import (
	"cmp"
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

// How says how a path is carried out on an image.
type How struct {
	// Nearest takes each pixel as it is, as for masks: what comes from outside is 0. Else each step has its own
	// filter and fill.
	Nearest bool
	// Area is what of the image stands for the whole of it, which is then scaled down; the zero Area is all.
	Area pixel.Area
}

// filter is that of a resize whose own is f.
func (h How) filter(f pixel.Filter) pixel.Filter {
	if h.Nearest {
		return pixel.Nearest
	}
	return f
}

// Move is what p makes of src, a whole image as it is stored, in memory of m that is valid until the next call; or src
// itself, where p changes nothing. Narrow does not matter.
//
// An image of another size than p begins with, such as a mask of half the size, is one of the same scene: it is
// scaled to that size first, as torchvision users resize a mask to its image. Where p begins with a resize of the
// whole image, src is resampled once, from its own size. Steps that are Still are left out.
func (m *Mover) Move(p *Path, src *pixel.Image, how How) (*pixel.Image, error) {
	v, err := m.run(p, src, how)
	if err != nil || v.isWhole() {
		return v.Image, err
	}
	out := m.Copy(v)
	m.used(v.Image)
	return out, nil
}

// MoveTo is Move into dst, another image.
func (m *Mover) MoveTo(dst *pixel.Image, p *Path, src *pixel.Image, how How) error {
	v, err := m.run(p, src, how)
	if err != nil {
		return err
	}
	dst.Reset(v.Window.H, v.Window.W, src.C, src.DType)
	v.place(dst, 0, 0)
	return nil
}

// Fit is src, a whole image as it is stored, upright and of the size that p begins with: src itself if it is that, or
// memory of m.
func (m *Mover) Fit(p *Path, src *pixel.Image, how How) (*pixel.Image, error) {
	m.turn = 0 // so that as few buffers as possible become large
	src, a, err := m.orient(p, src, how.Area)
	if err != nil {
		return nil, err
	}
	how.Area = a
	return m.fit(p, src, how)
}

// Turned is src, as it is stored, upright: src itself if it is that, or memory of m.
func (m *Mover) Turned(p *Path, src *pixel.Image) (*pixel.Image, error) {
	m.turn = 0
	src, _, err := m.orient(p, src, pixel.Area{})
	return src, err
}

// run carries out p but for the last crop and mirroring, which are the view's.
func (m *Mover) run(p *Path, src *pixel.Image, how How) (v View, err error) {
	m.turn = 0
	if src, how.Area, err = m.orient(p, src, how.Area); err != nil {
		return View{Image: src}, err
	}
	if !p.resizesWhole() {
		if src, err = m.fit(p, src, how); err != nil {
			return View{Image: src}, err
		}
		how.Area = pixel.Area{}
	}
	cur, window := whole(src), p.windowOf(len(p.Steps))
	for i := range p.Steps {
		var out *pixel.Image
		st, in := p.Steps[i], cur.part(p.windowOf(i), p.Steps[i].Flips)
		if i == 0 && p.resizesWhole() {
			in = whole(src) // of whatever size
		}
		switch {
		case st.Kind == Still:
			cur = m.Upright(in)
			continue
		case st.Kind == Affine:
			out, err = m.affine(p, i, st, in, how)
		case st.Kind == Resize && i == len(p.Steps)-1:
			out, err = m.lastResize(&st, in, how, window)
			window = pixel.Rect{W: window.W, H: window.H}
		default:
			if st.Filter = how.filter(st.Filter); how.Nearest {
				st.Border.Fill = nil
			}
			out, err = m.move(&st, in, how.Area)
		}
		if err != nil {
			return View{Image: src}, err
		}
		m.used(cur.Image)
		cur, how.Area = whole(out), pixel.Area{}
	}
	return cur.part(window, p.Flips), nil
}

// affine carries out step i of p, of which st is a copy.
func (m *Mover) affine(p *Path, i int, st Step, in View, how How) (*pixel.Image, error) {
	needed, mapping := p.Mapping(i)
	if how.Nearest {
		st.Affine.Filter, st.Affine.Fill = pixel.Nearest, nil
	}
	mapping.Affine = &st.Affine
	return m.warp(in.within(needed), &mapping)
}

// lastResize makes the window alone of a resize's result.
func (m *Mover) lastResize(st *Step, in View, how How, window pixel.Rect) (*pixel.Image, error) {
	in = m.Upright(in)
	out := m.scratch()
	err := m.Resampler.ResizeRegion(out, in.Image, in.Window, how.Area, st.W, st.H, window, how.filter(st.Filter))
	return out, st.Named(err)
}

// resizesWhole reports whether p begins with a resize of the whole image.
func (p *Path) resizesWhole() bool {
	return len(p.Steps) > 0 && p.Steps[0].Kind == Resize && p.Steps[0].Flips == Flips{} &&
		p.Steps[0].Window == pixel.Rect{W: p.FromW, H: p.FromH}
}

// orient is src upright, and the area of it.
func (m *Mover) orient(p *Path, src *pixel.Image, a pixel.Area) (*pixel.Image, pixel.Area, error) {
	if p.Orientation <= 1 {
		return src, a, nil
	}
	a = a.Oriented(src.H, src.W, p.Orientation)
	out := m.scratch()
	err := pixel.Orient(out, src, p.Orientation)
	m.used(src)
	return out, a, err
}

// fit is src, which is upright, scaled to the size that p begins with.
func (m *Mover) fit(p *Path, src *pixel.Image, how How) (*pixel.Image, error) {
	if src.H == p.FromH && src.W == p.FromW && how.Area == (pixel.Area{}) {
		return src, nil
	}
	f := pixel.Bilinear
	for i := range p.Steps {
		if p.Steps[i].Kind == Resize {
			f = cmp.Or(p.Steps[i].Filter, f)
			break
		}
	}
	st := Step{H: p.FromH, W: p.FromW, Filter: how.filter(f)}
	out := m.scratch()
	err := m.resize(out, &st, whole(src), how.Area)
	m.used(src)
	return out, err
}

func (m *Mover) used(src *pixel.Image) {
	if m.Used != nil {
		m.Used(src)
	}
}
