package geometry

import (
	"cmp"

	"github.com/dsconv/dsconv/preprocess/pixel"
)

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
