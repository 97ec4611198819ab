package augment

import (
	"cmp"
	"fmt"

	"github.com/dsconv/dsconv/internal/image/geometry"
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
	c        int           // the image's channels
	path     geometry.Path // how it moves
	passes   []pass        // what each step of path is
	changes  []pixelops.Enhancement
	erasures []erasure
	err      error // why the image cannot be transformed

	leaving Leaving
}

// flips are mirrorings: left to right and top to bottom.
type flips = geometry.Flips

// pass is what a step of a path does, if it does not move pixels.
type pass struct {
	kind  kind
	color recoloring // enhance, blur, sharpen
	call  call       // custom
}

type kind uint8

const (
	moving kind = iota // what the path's step says
	enhance
	blur
	sharpen
	custom
)

// Reset removes all steps: the image is one of h by w pixels with c channels.
func (s *Steps) Reset(h, w, c int) {
	*s = Steps{c: c, path: s.path, passes: s.passes[:0], changes: s.changes[:0], erasures: s.erasures[:0]}
	s.path.Reset(h, w)
}

// Size is the image's height and width after the steps so far, in pixels.
func (s *Steps) Size() (h, w int) { return s.path.H, s.path.W }

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

// failed is Fail for an error that may be nil.
func (s *Steps) failed(err error) {
	if err != nil {
		s.Fail(err)
	}
}

// Crop keeps the part r of the image, which must lie inside it.
func (s *Steps) Crop(r pixel.Rect) { s.failed(s.path.Crop(r)) }

// Flip mirrors the image left to right.
func (s *Steps) Flip() { s.path.Flips.H = !s.path.Flips.H }

// FlipV mirrors the image top to bottom.
func (s *Steps) FlipV() { s.path.Flips.V = !s.path.Flips.V }

// Resize resamples the image to h by w pixels by the filter f, bilinear if empty, with antialiasing; an
// image of that size stays as it is. Mirroring does not commute exactly with Pillow's fixed-point resampling, so a flip that
// was planned before is carried out first.
func (s *Steps) Resize(h, w int, f pixel.Filter) {
	if err := checkFilter("resize", f); err != nil {
		s.Fail(err)
		return
	}
	if h != s.path.H || w != s.path.W {
		s.add(geometry.Step{Kind: geometry.Resize, H: h, W: w, Filter: cmp.Or(f, pixel.Bilinear)})
	}
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
	s.add(geometry.Step{
		Kind: geometry.Pad, H: top + s.path.H + bottom, W: left + s.path.W + right,
		Border: geometry.Border{Left: left, Top: top, Mode: geometry.PadMode(mode), Fill: fill},
	})
}

// Affine makes each pixel of the image what m, as Pillow's Image.transform(AFFINE) takes it,
// maps it to; the size stays. f is nearest, bilinear or bicubic; nearest if empty. Outside of the image lies
// fill: one value for all channels or one for each, in the image's own units; nil is 0. s keeps
// fill.
func (s *Steps) Affine(m [6]float64, f pixel.Filter, fill []float64) {
	s.warp(resample.Affine{Matrix: m, Filter: cmp.Or(f, pixel.Nearest), Fill: fill}, s.path.H, s.path.W)
}

// warp is Affine with a result of another size.
func (s *Steps) warp(a resample.Affine, h, w int) {
	if err := a.Check(s.c); err != nil {
		s.Fail(err)
		return
	}
	s.add(geometry.Step{Kind: geometry.Affine, H: h, W: w, Affine: a})
}

// Transpose mirrors the image at its main diagonal.
func (s *Steps) Transpose() {
	n := len(s.path.Steps)
	s.failed(s.path.Transpose())
	s.fill(n, pass{})
}

// maxResult keeps sizes within what can be multiplied.
const maxResult = geometry.MaxSide

// add adds a step that moves pixels.
func (s *Steps) add(st geometry.Step) {
	n := len(s.path.Steps)
	s.failed(s.path.Add(st))
	s.fill(n, pass{})
}

// fill says that step n of the path, if there is one, is p.
func (s *Steps) fill(n int, p pass) {
	if n < len(s.path.Steps) {
		s.passes = append(s.passes, p)
	}
}
