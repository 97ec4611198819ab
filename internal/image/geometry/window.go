package geometry

import (
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Source is the part of the upright image that the steps use.
func (p *Path) Source() pixel.Rect {
	r := p.WindowAfter(-1)
	if len(p.Steps) > 0 && p.Steps[0].Kind == Affine {
		in, _ := p.Mapping(0)
		r = pixel.Rect{X: r.X + in.X, Y: r.Y + in.Y, W: in.W, H: in.H}
	}
	return r
}

// WindowAfter is the part of step i's result that is used after it; -1 stands for the image.
func (p *Path) WindowAfter(i int) pixel.Rect {
	if i+1 < len(p.Steps) {
		return p.Steps[i+1].Window
	}
	return p.Window
}

// Mapping is how step i, an affine one, maps the part of its window that it needs, which is that window
// mirrored if the step begins with that; needed is where that part lies in the window as it is.
func (p *Path) Mapping(i int) (needed pixel.Rect, m resample.Mapping) {
	st := &p.Steps[i]
	m = resample.Mapping{
		Affine: &st.Affine, ImageH: st.Window.H, ImageW: st.Window.W, H: st.H, W: st.W, Region: p.WindowAfter(i),
	}
	needed = m.Source()
	m.Left, m.Top = needed.X, needed.Y
	if st.Flips.H {
		needed.X = st.Window.W - needed.X - needed.W
	}
	if st.Flips.V {
		needed.Y = st.Window.H - needed.Y - needed.H
	}
	return needed, m
}

// Least is the height and width that Source may be scaled down to before the path is carried out, because it
// is resampled to that size; 0 if it must not be.
func (p *Path) Least() (h, w int) {
	if len(p.Steps) == 0 || p.Steps[0].Kind != Resize || p.Steps[0].Flips != (Flips{}) {
		return 0, 0
	}
	return p.Steps[0].H, p.Steps[0].W
}

// Narrow says that the designated image, which comes next, is not whole: Source is its area a, as large as it
// is, or scaled down but not below Least. Masks and boxes are those of the whole image all the same.
func (p *Path) Narrow(a pixel.Area) { p.narrowed, p.area = true, a }

// Widen takes Narrow back: the image that comes next is whole.
func (p *Path) Widen() { p.narrowed, p.area = false, pixel.Area{} }

// windowOf is the part of what it gets that step i uses, what follows the last step being a step too. An affine
// step computes no more than what is used of it.
func (p *Path) windowOf(i int) pixel.Rect {
	r := p.WindowAfter(i - 1)
	if i > 0 && p.Steps[i-1].Kind == Affine {
		r.X, r.Y = 0, 0
	}
	return r
}

// Input is the part of what it gets that step i uses, or the area of the image that is resampled, where that is
// not the part.
func (p *Path) Input(i int) (pixel.Rect, pixel.Area) {
	if i > 0 || !p.narrowed {
		return p.windowOf(i), pixel.Area{}
	}
	r, a := p.Source(), p.area
	r.X, r.Y = int(a.X0), int(a.Y0)
	if a.X1-a.X0 == float64(r.W) && a.Y1-a.Y0 == float64(r.H) {
		return r, pixel.Area{}
	}
	return r, a
}
