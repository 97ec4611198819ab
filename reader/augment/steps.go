package augment

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

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

// Rotate turns the image counter-clockwise about center (x, y), nil for its middle, as Pillow's
// Image.rotate does. The size stays; if expand, it grows so that all of the image is seen, where
// the center is the middle. Turns by right angles about the middle move whole pixels. f and fill
// are as for Affine.
func (s *Steps) Rotate(degrees float64, f pixel.Filter, expand bool, center, fill []float64) {
	if !(math.Abs(degrees) <= maxAmount) || center != nil && len(center) != 2 {
		s.Fail(fmt.Errorf("rotate by %v degrees about %v: wanted a number and x and y", degrees, center))
		return
	}
	degrees = math.Mod(degrees, 360)
	if degrees < 0 {
		degrees += 360
	}
	if center == nil && s.turn(degrees, expand) {
		return
	}
	m := rotation(degrees, s.path.H, s.path.W, center)
	h, w := s.path.H, s.path.W
	if expand {
		h, w = expanded(m, h, w)
		m[2], m[5] = apply(m, -float64(w-s.path.W)/2, -float64(h-s.path.H)/2)
	}
	s.warp(resample.Affine{Matrix: m, Filter: cmp.Or(f, pixel.Nearest), Fill: fill}, h, w)
}

// turn turns by right angles, where the result has the size that is wanted.
func (s *Steps) turn(degrees float64, expand bool) bool {
	switch {
	case degrees == 0:
	case degrees == 180:
		s.Flip()
		s.FlipV()
	case degrees == 90 && (expand || s.path.H == s.path.W):
		s.Transpose()
		s.FlipV()
	case degrees == 270 && (expand || s.path.H == s.path.W):
		s.Transpose()
		s.Flip()
	default:
		return false
	}
	return true
}

// rotation maps the pixels of a turned image of h by w pixels to those of the image.
func rotation(degrees float64, h, w int, center []float64) (m [6]float64) {
	x, y := float64(w)/2, float64(h)/2
	if center != nil {
		x, y = center[0], center[1]
	}
	sin, cos := math.Sincos(-degrees * (math.Pi / 180))
	m = [6]float64{round15(cos), round15(sin), 0, round15(-sin), round15(cos), 0}
	m[2], m[5] = apply(m, -x, -y)
	m[2] += x
	m[5] += y
	return m
}

// apply maps a place. The conversions keep the compiler from fusing.
func apply(m [6]float64, x, y float64) (mx, my float64) {
	mx = float64(m[0]*x) + float64(m[1]*y) + m[2]
	my = float64(m[3]*x) + float64(m[4]*y) + m[5]
	return mx, my
}

// expanded is the size that all of an image of h by w pixels fits in.
func expanded(m [6]float64, h, w int) (int, int) {
	minX, minY, maxX, maxY := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, corner := range [4][2]int{{0, 0}, {w, 0}, {w, h}, {0, h}} {
		x, y := apply(m, float64(corner[0]), float64(corner[1]))
		minX, minY, maxX, maxY = min(minX, x), min(minY, y), max(maxX, x), max(maxY, y)
	}
	return int(math.Ceil(maxY) - math.Floor(minY)), int(math.Ceil(maxX) - math.Floor(minX))
}

// round15 rounds to 15 decimals as Python's round does: exactly, ties to even.
func round15(x float64) float64 {
	var b [32]byte
	rounded, _ := strconv.ParseFloat(string(strconv.AppendFloat(b[:0], x, 'f', 15, 64)), 64)
	return rounded
}

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
