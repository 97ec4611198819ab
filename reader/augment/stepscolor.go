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
func (s *Steps) Enhance(c pixelops.Change, factor float64) {
	last := len(s.steps) - 1
	whole := s.window == pixel.Rect{W: s.W, H: s.H}
	s.changes = append(s.changes, pixelops.Enhancement{Change: c, Factor: factor})
	n := len(s.changes)
	if last >= 0 && s.steps[last].kind == enhance && whole && s.steps[last].h == s.H && s.steps[last].w == s.W {
		s.steps[last].color.to = n
		return
	}
	s.recolor(enhance, recoloring{from: n - 1, to: n})
}

// Blur convolves with a Gaussian kernel of h by w pixels.
func (s *Steps) Blur(h, w int, sigma float64) {
	s.recolor(blur, recoloring{h: h, w: w, amount: sigma})
}

// Sharpen blends the image's smooth version with the image.
func (s *Steps) Sharpen(factor float64) {
	s.recolor(sharpen, recoloring{amount: factor})
}

func (s *Steps) recolor(k kind, c recoloring) {
	s.steps = append(s.steps, step{kind: k, window: s.window, h: s.H, w: s.W, color: c})
	s.resized(s.H, s.W)
}

// recolor carries out a step of colours.
func (r *Runner) recolor(s *Steps, st *step, in view, own bool) (*pixel.Image, error) {
	m, c := in.image, &st.color
	switch st.kind {
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
	return m, r.enhancer.Enhance(m, s.changes[c.from:c.to])
}
