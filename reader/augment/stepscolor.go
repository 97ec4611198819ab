package augment

import (
	"fmt"
	"math"
	"slices"

	"github.com/dsconv/dsconv/internal/image/geometry"
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

// Change is a change of colours that does not depend on where pixels are.
type Change string

// The changes. Factor is what [Steps.Enhance] takes. Brightness, Contrast and Saturation are those of
// Pillow's ImageEnhance, Hue is torchvision's adjust_hue on PIL images, the others are Pillow's ImageOps
// of the same names.
const (
	Brightness   Change = "brightness"   // blends black with the image by factor: 0 is black, 1 the image
	Contrast     Change = "contrast"     // blends the mean grey with the image by factor
	Saturation   Change = "saturation"   // blends the grey version with the image by factor
	Hue          Change = "hue"          // shifts the hue by factor of the colour circle, -0.5 to 0.5
	Gray         Change = "gray"         // sets all channels to the grey of the pixel; no factor
	Invert       Change = "invert"       // replaces a value v by 255-v; no factor
	Posterize    Change = "posterize"    // keeps the highest factor bits of each value, 0 to 8
	Solarize     Change = "solarize"     // inverts values of factor or more
	AutoContrast Change = "autocontrast" // stretches each channel to the range 0 to 255; no factor
	Equalize     Change = "equalize"     // makes all values of each channel about equally frequent; no factor
)

// changes are the names of what package pixelops does, by its numbers.
var changes = [...]Change{
	pixelops.Brightness: Brightness, pixelops.Contrast: Contrast, pixelops.Saturation: Saturation, pixelops.Hue: Hue,
	pixelops.Gray: Gray, pixelops.Invert: Invert, pixelops.Posterize: Posterize, pixelops.Solarize: Solarize,
	pixelops.AutoContrast: AutoContrast, pixelops.Equalize: Equalize,
}

// Enhance makes the change c by factor. It is for grey and RGB images of 8 bits a channel. Changes one
// after another become one step.
func (s *Steps) Enhance(c Change, factor float64) {
	number := slices.Index(changes[:], c)
	switch {
	case number < 0:
		s.Fail(fmt.Errorf("unknown change of colors %q; known: %v", c, changes))
		return
	case !(math.Abs(factor) <= maxAmount):
		s.Fail(fmt.Errorf("%s by %v: the factor is not a number, or too large", c, factor))
		return
	case c == Hue && math.Abs(factor) > 0.5, c == Posterize && (factor < 0 || factor > 8):
		s.Fail(fmt.Errorf("%s by %v: wanted -0.5 to 0.5 for hue, 0 to 8 for posterize", c, factor))
		return
	case s.refusesColors(string(c)):
		return
	}
	p := &s.path
	last := len(p.Steps) - 1
	whole := p.Window == pixel.Rect{W: p.W, H: p.H}
	s.changes = append(s.changes, pixelops.Enhancement{Change: pixelops.Change(number), Factor: factor})
	n := len(s.changes)
	if last >= 0 && s.passes[last].kind == enhance && whole && p.Steps[last].H == p.H && p.Steps[last].W == p.W {
		s.passes[last].color.to = n
		return
	}
	s.recolor(enhance, recoloring{from: n - 1, to: n})
}

// maxAmount keeps factors and places within what can be computed with.
const maxAmount = 1e9

// refusesColors reports whether the image has colours that cannot be changed, which fails s.
func (s *Steps) refusesColors(name string) bool {
	err := checkColors(name, s.c)
	if err != nil {
		s.Fail(err)
	}
	return err != nil
}

// Blur convolves with a Gaussian kernel of h by w pixels, both odd and less than twice the image's, and
// of the standard deviation sigma in pixels, more than 0: torchvision's gaussian_blur. It is for images as
// Enhance's.
func (s *Steps) Blur(h, w int, sigma float64) {
	switch {
	case h < 1 || w < 1 || h%2 == 0 || w%2 == 0 || !(0 < sigma && sigma <= maxAmount):
		s.Fail(fmt.Errorf("blur by a kernel of %dx%d and sigma %v: wanted odd sizes and a sigma above 0", w, h, sigma))
		return
	case h/2 >= s.path.H || w/2 >= s.path.W:
		s.Fail(fmt.Errorf("blur by a kernel of %dx%d: an image of %dx%d pixels is too small", w, h, s.path.W, s.path.H))
		return
	case s.refusesColors("blur"):
		return
	}
	s.recolor(blur, recoloring{h: h, w: w, amount: sigma})
}

// Sharpen blends the image's smooth version with the image by factor: 0 is smooth, 1 the image, 2 twice
// as sharp, as Pillow's ImageEnhance.Sharpness does. It is for images as Enhance's.
func (s *Steps) Sharpen(factor float64) {
	if !(math.Abs(factor) <= maxAmount) {
		s.Fail(fmt.Errorf("sharpen by %v: the factor is not a number, or too large", factor))
		return
	}
	if s.refusesColors("sharpen") {
		return
	}
	s.recolor(sharpen, recoloring{amount: factor})
}

func (s *Steps) recolor(k kind, c recoloring) {
	s.path.AddStill()
	s.passes = append(s.passes, pass{kind: k, color: c})
}

// recolor carries out a step of colours.
func (r *Runner) recolor(s *Steps, p *pass, in geometry.View, own bool) (*pixel.Image, error) {
	m, c := in.Image, &p.color
	switch p.kind {
	case blur:
		out := r.mover.MakeRoom()
		return out, r.enhancer.Blur(out, m, in.Window, c.w, c.h, c.amount)
	case sharpen:
		out := r.mover.MakeRoom()
		return out, r.enhancer.Sharpen(out, m, in.Window, c.amount)
	}
	if !own || in.Window.W != m.W || in.Window.H != m.H {
		m = r.mover.Copy(in)
	}
	return m, r.enhancer.Enhance(m, s.changes[c.from:c.to])
}
