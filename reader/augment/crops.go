package augment

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dsconv/dsconv/internal/image/geometry"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/random"
)

// CenterCrop keeps the middle H by W pixels; an image that is smaller is put in the
// middle of a black one first: torchvision.transforms.CenterCrop.
type CenterCrop struct {
	H, W int
	// Floor rounds the place of the middle down, as Albumentations does, and not half to even.
	Floor bool
}

func (o CenterCrop) String() string {
	return "centercrop:" + formatSize(o.H, o.W) + formatFlag("floor", o.Floor)
}

// Check implements Op.
func (o CenterCrop) Check(int) error { return checkSize("centercrop", o.H, o.W) }

// AddTo implements Op.
func (o CenterCrop) AddTo(s *Steps, _ *random.Rand) {
	if s.path.H < o.H || s.path.W < o.W {
		h, w := max(0, o.H-s.path.H), max(0, o.W-s.path.W)
		s.Pad(w/2, h/2, w-w/2, h-h/2, PadConstant, nil)
	}
	r := pixel.Rect{X: geometry.Middle(s.path.W, o.W), Y: geometry.Middle(s.path.H, o.H), W: o.W, H: o.H}
	if o.Floor {
		r.X, r.Y = (s.path.W-o.W)/2, (s.path.H-o.H)/2
	}
	s.Crop(r)
}

func (CenterCrop) sizing() sizing { return fixesSize }

// RandomCrop keeps H by W pixels at a random place: torchvision.transforms.RandomCrop. An image
// that is smaller cannot be transformed, unless it is padded.
type RandomCrop struct {
	H, W int
	// Padding is put around the image first: left, top, right, bottom.
	Padding [4]int
	// Grow also pads images that are still smaller, by what is missing on both sides:
	// torchvision's pad_if_needed. As in its v2, there is one padding for both reasons.
	Grow bool
	// Mode says what borders are filled with; PadConstant if empty.
	Mode PadMode
	// Fill is for PadConstant, in the image's own units: one value for all channels or one for
	// each; nil is 0.
	Fill []float64
}

func (o RandomCrop) String() string {
	return "crop:" + formatSize(o.H, o.W) + formatOption("pad", o.Padding, [4]int{}, formatPadding) + formatFlag("grow", o.Grow) +
		formatFlag(string(o.Mode), o.Mode != "" && o.Mode != PadConstant) + formatValues("fill", o.Fill)
}

// Check implements Op.
func (o RandomCrop) Check(channels int) error {
	for _, n := range o.Padding {
		if n < 0 || n > maxSide {
			return fmt.Errorf("crop: padding %d: wanted 0 to %d", n, maxSide)
		}
	}
	if err := checkPadMode("crop", o.Mode); err != nil {
		return err
	}
	if err := resample.CheckFill(o.Fill, channels); err != nil {
		return fmt.Errorf("crop: %w", err)
	}
	return checkSize("crop", o.H, o.W)
}

// AddTo implements Op.
func (o RandomCrop) AddTo(s *Steps, r *random.Rand) {
	pad := o.Padding
	if o.Grow {
		x, y := max(0, o.W-s.path.W-pad[0]-pad[2]), max(0, o.H-s.path.H-pad[1]-pad[3])
		pad = [4]int{pad[0] + x, pad[1] + y, pad[2] + x, pad[3] + y}
	}
	if pad != [4]int{} {
		s.Pad(pad[0], pad[1], pad[2], pad[3], o.Mode, o.Fill)
	}
	if s.path.H < o.H || s.path.W < o.W {
		s.Fail(fmt.Errorf("it is %dx%d, smaller than the crop of %dx%d: pad it (crop:SIZE:grow) or resize it first", s.path.W, s.path.H, o.W, o.H))
		return
	}
	y := r.IntN(s.path.H - o.H + 1)
	s.Crop(pixel.Rect{X: r.IntN(s.path.W - o.W + 1), Y: y, W: o.W, H: o.H})
}

func (RandomCrop) sizing() sizing { return fixesSize }

// formatPadding is N, LEFTRIGHT/TOPBOTTOM or LEFT/TOP/RIGHT/BOTTOM.
func formatPadding(p [4]int) string {
	switch {
	case p[0] != p[2] || p[1] != p[3]:
		return fmt.Sprintf("%d/%d/%d/%d", p[0], p[1], p[2], p[3])
	case p[0] != p[1]:
		return fmt.Sprintf("%d/%d", p[0], p[1])
	}
	return fmt.Sprint(p[0])
}

// RandomResizedCrop cuts out a part of random area and aspect ratio and resizes it to H
// by W: torchvision.transforms.RandomResizedCrop and its get_params.
type RandomResizedCrop struct {
	H, W int
	// Scale bounds the part's share of the area; zero is (0.08, 1).
	Scale [2]float64
	// Ratio bounds width/height, drawn uniformly on a log scale; zero is (3/4, 4/3).
	Ratio [2]float64
	// Filter is bilinear with antialias if empty.
	Filter pixel.Filter
}

var (
	defaultScale = [2]float64{0.08, 1}
	defaultRatio = [2]float64{3. / 4., 4. / 3.}
)

func (o RandomResizedCrop) scale() [2]float64 { return cmp.Or(o.Scale, defaultScale) }
func (o RandomResizedCrop) ratio() [2]float64 { return cmp.Or(o.Ratio, defaultRatio) }

func (o RandomResizedCrop) String() string {
	return "rrc:" + formatSize(o.H, o.W) + formatOption("scale", o.Scale, defaultScale, formatRange) +
		formatOption("ratio", o.Ratio, defaultRatio, formatRange) + formatFilter(o.Filter, pixel.Bilinear)
}

// Check implements Op.
func (o RandomResizedCrop) Check(int) error {
	s, r := o.scale(), o.ratio()
	switch {
	case !(0 < s[0] && s[0] <= s[1] && s[1] <= 1):
		return fmt.Errorf("rrc: scale %s: wanted 0 < low <= high <= 1", formatRange(s))
	case !(0 < r[0] && r[0] <= r[1] && !math.IsInf(r[1], 1)):
		return fmt.Errorf("rrc: ratio %s: wanted 0 < low <= high", formatRange(r))
	}
	if err := checkFilter("rrc", o.Filter); err != nil {
		return err
	}
	return checkSize("rrc", o.H, o.W)
}

// AddTo implements Op.
func (o RandomResizedCrop) AddTo(s *Steps, r *random.Rand) {
	s.Crop(o.draw(s.path.H, s.path.W, r))
	s.Resize(o.H, o.W, cmp.Or(o.Filter, pixel.Bilinear))
}

func (RandomResizedCrop) sizing() sizing { return fixesSize }

// draw is torchvision's get_params: ten tries, then the largest part in the middle that
// keeps the ratio.
func (o RandomResizedCrop) draw(h, w int, r *random.Rand) pixel.Rect {
	ratio := o.ratio()
	for range 10 {
		cw, ch := drawSides(h*w, o.scale(), ratio, r)
		if 0 < cw && cw <= w && 0 < ch && ch <= h {
			y := r.IntN(h - ch + 1)
			return pixel.Rect{X: r.IntN(w - cw + 1), Y: y, W: cw, H: ch}
		}
	}
	cw, ch := w, h
	switch in := float64(w) / float64(h); {
	case in < ratio[0]:
		ch = int(math.RoundToEven(float64(w) / ratio[0]))
	case in > ratio[1]:
		cw = int(math.RoundToEven(float64(h) * ratio[1]))
	}
	cw, ch = max(cw, 1), max(ch, 1)
	return pixel.Rect{X: (w - cw) / 2, Y: (h - ch) / 2, W: cw, H: ch}
}

// drawSides draws a part of an area: its share evenly, the ratio of its sides a to b evenly on a
// log scale.
func drawSides(area int, scale, ratio [2]float64, r *random.Rand) (a, b int) {
	target := float64(area) * r.Uniform(scale[0], scale[1])
	aspect := math.Exp(r.Uniform(math.Log(ratio[0]), math.Log(ratio[1])))
	return int(math.RoundToEven(math.Sqrt(target * aspect))), int(math.RoundToEven(math.Sqrt(target / aspect)))
}

// PadMode says what borders are filled with, as torchvision's padding_mode does.
type PadMode string

// The modes of padding.
const (
	PadConstant  PadMode = PadMode(geometry.PadConstant)  // a value
	PadEdge      PadMode = PadMode(geometry.PadEdge)      // the pixel at the edge
	PadReflect   PadMode = PadMode(geometry.PadReflect)   // the image mirrored at its outermost pixels
	PadSymmetric PadMode = PadMode(geometry.PadSymmetric) // the image mirrored at its edges
)

var padModes = []PadMode{PadConstant, PadEdge, PadReflect, PadSymmetric}

// checkPadMode takes an empty mode for PadConstant.
func checkPadMode(name string, m PadMode) error {
	if m != "" && !slices.Contains(padModes, m) {
		return fmt.Errorf("%s: unknown padding mode %q; known: %v", name, m, padModes)
	}
	return nil
}
