package augment

import (
	"github.com/dsconv/dsconv/internal/image/pixelops"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Plan lists the operations on one image and on the masks and boxes that belong to it. Crops
// and flips are delayed as long as possible: they become the window of the next resample
// or of the last pass. The zero value is made ready by Reset and can be used again and again.
type Plan struct {
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
func (p *Plan) Reset(h, w, c int) {
	*p = Plan{C: c, fromH: h, fromW: w, steps: p.steps[:0], changes: p.changes[:0], erasures: p.erasures[:0]}
	p.resized(h, w)
}

// Fail says why the image cannot be transformed; the first such error is Pipeline.Fits's.
func (p *Plan) Fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// Source is the part of the image that the plan uses.
func (p *Plan) Source() pixel.Rect {
	if len(p.steps) > 0 {
		return p.steps[0].window
	}
	return p.window
}

// Least is the height and width that Source may be scaled down to before the plan is applied,
// because it is resampled to that size; 0 if it must not be.
func (p *Plan) Least() (h, w int) {
	if len(p.steps) == 0 || p.steps[0].kind != resizing || p.steps[0].flips != (flips{}) {
		return 0, 0
	}
	return p.steps[0].h, p.steps[0].w
}

// Narrow says that the image that Apply gets next is Source alone, or one in which Source,
// scaled down but not below Least, is the area a. Nothing else of p changes: masks and boxes
// are those of the whole image.
func (p *Plan) Narrow(a pixel.Area) { p.narrowed, p.area = true, a }

// Widen takes Narrow back: the image that Apply gets next is whole.
func (p *Plan) Widen() { p.narrowed, p.area = false, pixel.Area{} }

// input is the part of its input that step i uses, the last pass being the step after all
// others, or the area of it that is resampled, where that is not the part.
func (p *Plan) input(i int) (pixel.Rect, pixel.Area) {
	r := p.window
	if i < len(p.steps) {
		r = p.steps[i].window
	}
	if i > 0 || !p.narrowed {
		return r, pixel.Area{}
	}
	r.X, r.Y = 0, 0
	if p.area == (pixel.Area{X1: float64(r.W), Y1: float64(r.H)}) {
		return r, pixel.Area{}
	}
	return r, p.area
}

// Crop keeps the part r of the image, which must lie inside it.
func (p *Plan) Crop(r pixel.Rect) {
	x, y := r.X, r.Y
	if p.flips.h {
		x = p.W - r.X - r.W
	}
	if p.flips.v {
		y = p.H - r.Y - r.H
	}
	p.window = pixel.Rect{X: p.window.X + x, Y: p.window.Y + y, W: r.W, H: r.H}
	p.H, p.W = r.H, r.W
}

// Flip mirrors the image left to right.
func (p *Plan) Flip() { p.flips.h = !p.flips.h }

// FlipV mirrors the image top to bottom.
func (p *Plan) FlipV() { p.flips.v = !p.flips.v }

// Resize resamples the image to h by w pixels; an image of that size stays as it is.
// Mirroring does not commute exactly with Pillow's fixed-point resampling, so a flip that
// was planned before is carried out first.
func (p *Plan) Resize(h, w int, f pixel.Filter) {
	if h == p.H && w == p.W {
		return
	}
	p.add(step{kind: resizing, h: h, w: w, filter: f})
}

// Pad puts borders of so many pixels around the image, filled as mode says: with fill, which
// is as that of Affine, or with pixels of the image.
func (p *Plan) Pad(left, top, right, bottom int, mode PadMode, fill []float64) {
	p.add(step{
		kind: pad, h: top + p.H + bottom, w: left + p.W + right,
		border: border{left: left, top: top, mode: mode, fill: fill},
	})
}

// Affine makes each pixel of the image what m, as Pillow's Image.transform(AFFINE) takes it,
// maps it to; the size stays. f is nearest, bilinear or bicubic. Outside of the image lies
// fill: one value for all channels or one for each, in the image's own units; nil is 0. p keeps
// fill.
func (p *Plan) Affine(m [6]float64, f pixel.Filter, fill []float64) {
	p.warp(resample.Affine{Matrix: m, Filter: f, Fill: fill}, p.H, p.W)
}

// warp is Affine with a result of another size.
func (p *Plan) warp(a resample.Affine, h, w int) {
	p.add(step{kind: affine, h: h, w: w, affine: a})
}

// Transpose mirrors the image at its main diagonal.
func (p *Plan) Transpose() {
	after := flips{h: p.flips.v, v: p.flips.h}
	p.flips = flips{}
	p.add(step{kind: transpose, h: p.W, w: p.H})
	p.flips = after
}

// add adds a step that what was kept back is done before.
func (p *Plan) add(s step) {
	s.window, s.flips = p.window, p.flips
	p.steps = append(p.steps, s)
	p.flips = flips{}
	p.resized(s.h, s.w)
}

func (p *Plan) resized(h, w int) {
	p.H, p.W = h, w
	p.window = pixel.Rect{W: w, H: h}
}
