package augment

import (
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Source is the part of the image that the steps use.
func (s *Steps) Source() pixel.Rect {
	r := s.windowAfter(-1)
	if len(s.steps) > 0 && s.steps[0].kind == affine {
		in, _ := s.mapping(0)
		r = pixel.Rect{X: r.X + in.X, Y: r.Y + in.Y, W: in.W, H: in.H}
	}
	return r
}

// windowAfter is the part of step i's result that is used after it; -1 stands for the image.
func (s *Steps) windowAfter(i int) pixel.Rect {
	if i+1 < len(s.steps) {
		return s.steps[i+1].window
	}
	return s.window
}

// mapping is how step i, an affine one, maps the part of its window that it needs, which is that window
// mirrored if the step begins with that; needed is where that part lies in the window as it is.
func (s *Steps) mapping(i int) (needed pixel.Rect, m resample.Mapping) {
	st := &s.steps[i]
	m = resample.Mapping{
		Affine: &st.affine, ImageH: st.window.H, ImageW: st.window.W, H: st.h, W: st.w, Region: s.windowAfter(i),
	}
	needed = m.Source()
	m.Left, m.Top = needed.X, needed.Y
	if st.flips.h {
		needed.X = st.window.W - needed.X - needed.W
	}
	if st.flips.v {
		needed.Y = st.window.H - needed.Y - needed.H
	}
	return needed, m
}

// Least is the height and width that Source may be scaled down to before the plan is applied,
// because it is resampled to that size; 0 if it must not be.
func (s *Steps) Least() (h, w int) {
	if len(s.steps) == 0 || s.steps[0].kind != resizing || s.steps[0].flips != (flips{}) {
		return 0, 0
	}
	return s.steps[0].h, s.steps[0].w
}

// Narrow says that the image that Apply gets next is not whole: Source is its area a, as large as it is, or
// scaled down but not below Least. Nothing else of s changes: masks and boxes are those of the whole image.
func (s *Steps) Narrow(a pixel.Area) { s.narrowed, s.area = true, a }

// Widen takes Narrow back: the image that Apply gets next is whole.
func (s *Steps) Widen() { s.narrowed, s.area = false, pixel.Area{} }

// windowOf is the part of what it gets that step i uses, the last pass being the step after all others.
// An affine step computes no more than what is used of it.
func (s *Steps) windowOf(i int) pixel.Rect {
	r := s.windowAfter(i - 1)
	if i > 0 && s.steps[i-1].kind == affine {
		r.X, r.Y = 0, 0
	}
	return r
}

// input is windowOf, or the area of the image that is resampled, where that is not the part.
func (s *Steps) input(i int) (pixel.Rect, pixel.Area) {
	if i > 0 || !s.narrowed {
		return s.windowOf(i), pixel.Area{}
	}
	r, a := s.Source(), s.area
	r.X, r.Y = int(a.X0), int(a.Y0)
	if a.X1-a.X0 == float64(r.W) && a.Y1-a.Y0 == float64(r.H) {
		return r, pixel.Area{}
	}
	return r, a
}
