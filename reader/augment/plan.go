package augment

import "github.com/dsconv/dsconv/preprocess"

// Plan is what is to be done to one image. Crops and flips are kept back as long as they
// can be: they become the window of the next resample or of the last pass. The zero
// value is made ready by Reset and can be used again and again.
type Plan struct {
	// H, W, C is the image's shape after what was planned so far.
	H, W, C int

	window preprocess.Rect // what is left of the last step's image
	flip   bool            // whether that window is mirrored
	steps  []step
}

// Adjustment changes the pixels of an image in place by a factor.
type Adjustment func(m *preprocess.Image, factor float64) error

// step is one pass over pixels. Its input is the window of the image before it.
type step struct {
	kind   kind
	window preprocess.Rect
	flip   bool // mirror the window first

	h, w      int // of the result: resample, pad
	filter    preprocess.Filter
	area      preprocess.Area // what is resampled, where it is not the window
	top, left int             // of the window in the result: pad
	adjust    Adjustment
	factor    float64
}

type kind uint8

const (
	resample kind = iota
	pad
	adjust
)

// Reset starts the plan of an image of h by w pixels with c channels.
func (p *Plan) Reset(h, w, c int) {
	*p = Plan{C: c, steps: p.steps[:0]}
	p.resized(h, w)
}

// Source is the part of the image that the plan uses.
func (p *Plan) Source() preprocess.Rect { return *p.source() }

func (p *Plan) source() *preprocess.Rect {
	if len(p.steps) > 0 {
		return &p.steps[0].window
	}
	return &p.window
}

// Least is the height and width that Source may be scaled down to before the plan is applied,
// because it is resampled to that size; 0 if it must not be.
func (p *Plan) Least() (h, w int) {
	if len(p.steps) == 0 || p.steps[0].kind != resample || p.steps[0].flip {
		return 0, 0
	}
	return p.steps[0].h, p.steps[0].w
}

// Narrow makes p a plan for an image that is Source alone, or one in which Source, scaled down
// but not below Least, is the area a.
func (p *Plan) Narrow(a preprocess.Area) {
	r := p.source()
	r.X, r.Y = 0, 0
	if a != (preprocess.Area{X1: float64(r.W), Y1: float64(r.H)}) {
		p.steps[0].area = a
	}
}

// Crop keeps the part r of the image, which must lie inside it.
func (p *Plan) Crop(r preprocess.Rect) {
	x := r.X
	if p.flip {
		x = p.W - r.X - r.W
	}
	p.window = preprocess.Rect{X: p.window.X + x, Y: p.window.Y + r.Y, W: r.W, H: r.H}
	p.H, p.W = r.H, r.W
}

// Resize resamples the image to h by w pixels; an image of that size stays as it is.
// Mirroring does not commute exactly with Pillow's fixed-point resampling, so a flip that
// was planned before is carried out first.
func (p *Plan) Resize(h, w int, f preprocess.Filter) {
	if h == p.H && w == p.W {
		return
	}
	p.steps = append(p.steps, step{kind: resample, window: p.window, flip: p.flip, h: h, w: w, filter: f})
	p.flip = false
	p.resized(h, w)
}

// Pad puts the image at (left, top) of a black one of h by w pixels.
func (p *Plan) Pad(h, w, top, left int) {
	p.steps = append(p.steps, step{kind: pad, window: p.window, flip: p.flip, h: h, w: w, top: top, left: left})
	p.flip = false
	p.resized(h, w)
}

// Flip mirrors the image left to right.
func (p *Plan) Flip() {
	p.flip = !p.flip
}

// Adjust changes the pixels by a, which must not depend on where they are: a flip that
// was planned before stays planned.
func (p *Plan) Adjust(a Adjustment, factor float64) {
	p.steps = append(p.steps, step{kind: adjust, window: p.window, adjust: a, factor: factor})
	p.resized(p.H, p.W)
}

func (p *Plan) resized(h, w int) {
	p.H, p.W = h, w
	p.window = preprocess.Rect{W: w, H: h}
}
