package augment

import (
	"github.com/dsconv/dsconv/internal/image/pixelops"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Steps of colours don't move pixels, and give the mirrored result of a mirrored image: a
// mirroring that was planned before stays planned. What was cropped is cropped before them,
// for some depend on all of the image.

// recoloring is what a step does to the colours.
type recoloring struct {
	from, to int     // of the plan's changes: enhance
	h, w     int     // of the kernel: blur
	amount   float64 // the standard deviation or the factor: blur, sharpen
}

// Enhance makes a change that does not depend on where pixels are. Changes one after another
// become one step.
func (p *Plan) Enhance(c pixelops.Change, factor float64) {
	last := len(p.steps) - 1
	whole := p.window == pixel.Rect{W: p.W, H: p.H}
	p.changes = append(p.changes, pixelops.Enhancement{Change: c, Factor: factor})
	n := len(p.changes)
	if last >= 0 && p.steps[last].kind == enhance && whole && p.steps[last].h == p.H && p.steps[last].w == p.W {
		p.steps[last].color.to = n
		return
	}
	p.recolor(enhance, recoloring{from: n - 1, to: n})
}

// Blur convolves with a Gaussian kernel of h by w pixels, see preprocess.Enhancer.
func (p *Plan) Blur(h, w int, sigma float64) {
	p.recolor(blur, recoloring{h: h, w: w, amount: sigma})
}

// Sharpen blends the image's smooth version with the image, see preprocess.Enhancer.
func (p *Plan) Sharpen(factor float64) {
	p.recolor(sharpen, recoloring{amount: factor})
}

func (p *Plan) recolor(k kind, c recoloring) {
	p.steps = append(p.steps, step{kind: k, window: p.window, h: p.H, w: p.W, color: c})
	p.resized(p.H, p.W)
}

// recolor carries out a step of colours.
func (r *Runner) recolor(p *Plan, s *step, in view, own bool) (*pixel.Image, error) {
	m, c := in.image, &s.color
	switch s.kind {
	case blur:
		out := r.scratch()
		return out, r.enhancer.Blur(out, m, in.window, c.w, c.h, c.amount)
	case sharpen:
		out := r.scratch()
		return out, r.enhancer.Sharpen(out, m, in.window, c.amount)
	}
	if !own || in.window.W != m.W || in.window.H != m.H {
		m = r.copy(in)
	}
	return m, r.enhancer.Enhance(m, p.changes[c.from:c.to])
}
