package augment

import (
	"github.com/dsconv/dsconv/internal/image/pixelops"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Steps lists the operations on one image and on the masks and boxes that belong to it. Crops
// and flips are delayed as long as possible: they become the window of the next resample
// or of the last pass. The zero value is made ready by Reset and can be used again and again.
type Steps struct {
	// H, W, C is the image's shape after what was planned so far.
	H, W, C int

	fromH, fromW int        // of the image that Reset was told of
	window       pixel.Rect // what is left of the last step's image
	flips        flips      // how that window is mirrored
	steps        []step
	changes      []pixelops.Enhancement
	erasures     []erasure
	err          error // why the image cannot be transformed

	narrowed bool
	area     pixel.Area // where Source is in the image to come, if narrowed
}

// flips are mirrorings: left to right and top to bottom.
type flips struct{ h, v bool }

// step is one pass over pixels. Its input is the window of the image before it.
type step struct {
	kind   kind
	window pixel.Rect
	flips  flips // mirror the window first

	h, w   int             // of the result
	filter pixel.Filter    // resample
	border border          // pad
	affine resample.Affine // affine
	color  recoloring      // enhance, blur, sharpen
}

type kind uint8

const (
	resizing kind = iota
	pad
	transpose
	affine
	enhance // this and the following are of colors alone
	blur
	sharpen
)

// Reset starts the plan of an image of h by w pixels with c channels.
func (s *Steps) Reset(h, w, c int) {
	*s = Steps{C: c, fromH: h, fromW: w, steps: s.steps[:0], changes: s.changes[:0], erasures: s.erasures[:0]}
	s.resized(h, w)
}

// Fail says why the image cannot be transformed; the first such error is Pipeline.Fits's.
func (s *Steps) Fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

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

// Narrow says that the image that Apply gets next is Source alone, or one in which Source,
// scaled down but not below Least, is the area a. Nothing else of s changes: masks and boxes
// are those of the whole image.
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
	r := s.Source()
	r.X, r.Y = 0, 0
	if s.area == (pixel.Area{X1: float64(r.W), Y1: float64(r.H)}) {
		return r, pixel.Area{}
	}
	return r, s.area
}

// Crop keeps the part r of the image, which must lie inside it.
func (s *Steps) Crop(r pixel.Rect) {
	x, y := r.X, r.Y
	if s.flips.h {
		x = s.W - r.X - r.W
	}
	if s.flips.v {
		y = s.H - r.Y - r.H
	}
	s.window = pixel.Rect{X: s.window.X + x, Y: s.window.Y + y, W: r.W, H: r.H}
	s.H, s.W = r.H, r.W
}

// Flip mirrors the image left to right.
func (s *Steps) Flip() { s.flips.h = !s.flips.h }

// FlipV mirrors the image top to bottom.
func (s *Steps) FlipV() { s.flips.v = !s.flips.v }

// Resize resamples the image to h by w pixels; an image of that size stays as it is.
// Mirroring does not commute exactly with Pillow's fixed-point resampling, so a flip that
// was planned before is carried out first.
func (s *Steps) Resize(h, w int, f pixel.Filter) {
	if h == s.H && w == s.W {
		return
	}
	s.add(step{kind: resizing, h: h, w: w, filter: f})
}

// Pad puts borders of so many pixels around the image, filled as mode says: with fill, which
// is as that of Affine, or with pixels of the image.
func (s *Steps) Pad(left, top, right, bottom int, mode PadMode, fill []float64) {
	s.add(step{
		kind: pad, h: top + s.H + bottom, w: left + s.W + right,
		border: border{left: left, top: top, mode: mode, fill: fill},
	})
}

// Affine makes each pixel of the image what m, as Pillow's Image.transform(AFFINE) takes it,
// maps it to; the size stays. f is nearest, bilinear or bicubic. Outside of the image lies
// fill: one value for all channels or one for each, in the image's own units; nil is 0. s keeps
// fill.
func (s *Steps) Affine(m [6]float64, f pixel.Filter, fill []float64) {
	s.warp(resample.Affine{Matrix: m, Filter: f, Fill: fill}, s.H, s.W)
}

// warp is Affine with a result of another size.
func (s *Steps) warp(a resample.Affine, h, w int) {
	s.add(step{kind: affine, h: h, w: w, affine: a})
}

// Transpose mirrors the image at its main diagonal.
func (s *Steps) Transpose() {
	after := flips{h: s.flips.v, v: s.flips.h}
	s.flips = flips{}
	s.add(step{kind: transpose, h: s.W, w: s.H})
	s.flips = after
}

// add adds a step that what was kept back is done before.
func (s *Steps) add(st step) {
	st.window, st.flips = s.window, s.flips
	s.steps = append(s.steps, st)
	s.flips = flips{}
	s.resized(st.h, st.w)
}

func (s *Steps) resized(h, w int) {
	s.H, s.W = h, w
	s.window = pixel.Rect{W: w, H: h}
}
