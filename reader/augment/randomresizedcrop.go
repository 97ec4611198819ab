package augment

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/random"
)

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
