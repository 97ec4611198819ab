package augment

import (
	"cmp"
	"fmt"

	"github.com/dsconv/dsconv/internal/image/pixelops"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Steps are what ops do to one image, and to the masks and boxes that belong to it. An [Op] adds to them
// by the methods from Crop to Do; each acts on the image as the steps before leave it, and what cannot be
// done to that image, such as a crop that is not inside, is the image's error: see Fail. [Steps.List]
// shows what was added. The other methods are for package reader.
//
// Crops and flips are delayed as long as possible: they become the window of the next resample
// or of the last pass. The zero value is made ready by Reset and can be used again and again. Steps belong
// to one goroutine.
type Steps struct {
	h, w, c int // the image's shape after the steps so far

	fromH, fromW int        // of the image that Reset was told of
	window       pixel.Rect // what is left of the last step's image
	flips        flips      // how that window is mirrored
	steps        []step
	changes      []pixelops.Enhancement
	erasures     []erasure
	err          error // why the image cannot be transformed

	narrowed bool
	area     pixel.Area // where Source is in the image to come, if narrowed

	leaving Leaving
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
	call   call            // custom
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
	custom
)

// Reset removes all steps: the image is one of h by w pixels with c channels.
func (s *Steps) Reset(h, w, c int) {
	*s = Steps{c: c, fromH: h, fromW: w, steps: s.steps[:0], changes: s.changes[:0], erasures: s.erasures[:0]}
	s.resized(h, w)
}

// Size is the image's height and width after the steps so far, in pixels.
func (s *Steps) Size() (h, w int) { return s.h, s.w }

// Channels is the image's number of channels: 1 (grey), 2 (grey and alpha), 3 (RGB) or 4 (RGB and alpha).
func (s *Steps) Channels() int { return s.c }

// Fail says why the image cannot be transformed: it is a bad sample then, with the first such error.
// Ops that follow are not asked.
func (s *Steps) Fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// Err is the first error that Fail was told, nil if the image can be transformed so far.
func (s *Steps) Err() error { return s.err }

// Crop keeps the part r of the image, which must lie inside it.
func (s *Steps) Crop(r pixel.Rect) {
	if !r.Inside(s.w, s.h) {
		s.Fail(fmt.Errorf("crop of %dx%d at %d,%d: it is not inside the image of %dx%d", r.W, r.H, r.X, r.Y, s.w, s.h))
		return
	}
	x, y := r.X, r.Y
	if s.flips.h {
		x = s.w - r.X - r.W
	}
	if s.flips.v {
		y = s.h - r.Y - r.H
	}
	s.window = pixel.Rect{X: s.window.X + x, Y: s.window.Y + y, W: r.W, H: r.H}
	s.h, s.w = r.H, r.W
}

// Flip mirrors the image left to right.
func (s *Steps) Flip() { s.flips.h = !s.flips.h }

// FlipV mirrors the image top to bottom.
func (s *Steps) FlipV() { s.flips.v = !s.flips.v }

// Resize resamples the image to h by w pixels by the filter f, bilinear if empty, with antialiasing; an
// image of that size stays as it is. Mirroring does not commute exactly with Pillow's fixed-point resampling, so a flip that
// was planned before is carried out first.
func (s *Steps) Resize(h, w int, f pixel.Filter) {
	if err := checkFilter("resize", f); err != nil {
		s.Fail(err)
		return
	}
	if h == s.h && w == s.w {
		return
	}
	s.add(step{kind: resizing, h: h, w: w, filter: cmp.Or(f, pixel.Bilinear)})
}

// Pad puts borders of so many pixels around the image, filled as mode says: with fill, which
// is as that of Affine, or with pixels of the image.
func (s *Steps) Pad(left, top, right, bottom int, mode PadMode, fill []float64) {
	err := cmp.Or(checkPadMode("pad", mode), resample.CheckFill(fill, s.c))
	if err == nil && (min(left, top, right, bottom) < 0 || max(left, top, right, bottom) > maxResult) {
		err = fmt.Errorf("pad by %d, %d, %d and %d pixels: wanted 0 to %d", left, top, right, bottom, maxResult)
	}
	if err != nil {
		s.Fail(err)
		return
	}
	s.add(step{
		kind: pad, h: top + s.h + bottom, w: left + s.w + right,
		border: border{left: left, top: top, mode: mode, fill: fill},
	})
}

// Affine makes each pixel of the image what m, as Pillow's Image.transform(AFFINE) takes it,
// maps it to; the size stays. f is nearest, bilinear or bicubic; nearest if empty. Outside of the image lies
// fill: one value for all channels or one for each, in the image's own units; nil is 0. s keeps
// fill.
func (s *Steps) Affine(m [6]float64, f pixel.Filter, fill []float64) {
	s.warp(resample.Affine{Matrix: m, Filter: cmp.Or(f, pixel.Nearest), Fill: fill}, s.h, s.w)
}

// warp is Affine with a result of another size.
func (s *Steps) warp(a resample.Affine, h, w int) {
	if err := a.Check(s.c); err != nil {
		s.Fail(err)
		return
	}
	s.add(step{kind: affine, h: h, w: w, affine: a})
}

// Transpose mirrors the image at its main diagonal.
func (s *Steps) Transpose() {
	after := flips{h: s.flips.v, v: s.flips.h}
	s.flips = flips{}
	s.add(step{kind: transpose, h: s.w, w: s.h})
	s.flips = after
}

// maxResult keeps sizes within what can be multiplied.
const maxResult = 1 << 28

// add adds a step that what was kept back is done before.
func (s *Steps) add(st step) {
	switch {
	case st.h < 1 || st.w < 1:
		s.Fail(fmt.Errorf("an image of %dx%d has no pixels", st.w, st.h))
		return
	case st.h > maxResult || st.w > maxResult:
		s.Fail(fmt.Errorf("%w: an image of %dx%d; at most %d are allowed on a side", pixel.ErrTooLarge, st.w, st.h, maxResult))
		return
	}
	st.window, st.flips = s.window, s.flips
	s.steps = append(s.steps, st)
	s.flips = flips{}
	s.resized(st.h, st.w)
}

func (s *Steps) resized(h, w int) {
	s.h, s.w = h, w
	s.window = pixel.Rect{W: w, H: h}
}
