package augment

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/random"
)

// automatic is one of the changes that TrivialAugmentWide and RandAugment choose from, in
// torchvision's order.
type automatic uint8

const (
	identity automatic = iota
	shearX
	shearY
	translateX
	translateY
	turn
	brightness
	saturation
	contrast
	sharpness
	posterize
	solarize
	autocontrast
	equalize
	automatics // how many there are
)

// signed reports whether half of the magnitudes are negative.
func (a automatic) signed() bool { return shearX <= a && a <= sharpness }

// space is how far the changes go at the most.
type space struct {
	shear, turn, blend     float64
	translateX, translateY float64 // in pixels
	bits                   float64 // that posterize takes away
	v2                     bool    // as in torchvision.transforms.v2, solarize counts from 1 to 0
}

// magnitude is the bin-th of bins magnitudes of a. As in torchvision they are float32.
func (s *space) magnitude(a automatic, bin, bins int) float64 {
	switch a {
	case shearX, shearY:
		return linear(0, s.shear, bin, bins)
	case translateX:
		return linear(0, s.translateX, bin, bins)
	case translateY:
		return linear(0, s.translateY, bin, bins)
	case turn:
		return linear(0, s.turn, bin, bins)
	case brightness, saturation, contrast, sharpness:
		return linear(0, s.blend, bin, bins)
	case posterize:
		step := float32(float64(bins-1) / s.bits)
		return 8 - math.RoundToEven(float64(float32(bin)/step))
	case solarize:
		if s.v2 {
			return 255 * linear(1, 0, bin, bins)
		}
		return linear(255, 0, bin, bins)
	}
	return 0
}

// linear is element i of torch.linspace(start, end, n), which counts from the nearer end.
func linear(start, end float64, i, n int) float64 {
	from, to := float32(start), float32(end)
	step := (to - from) / float32(n-1)
	if i < n/2 {
		return float64(from + float32(step*float32(i)))
	}
	return float64(to - float32(step*float32(n-1-i)))
}

// outside is how the changes that move pixels take them.
type outside struct {
	// Filter is nearest, bilinear or bicubic; nearest if empty.
	Filter pixel.Filter
	// Fill is for what lies outside of the image, of 0 to 255: one value for all channels or
	// one for each; nil is 0.
	Fill []float64
}

func (o outside) filter() pixel.Filter { return cmp.Or(o.Filter, pixel.Nearest) }

func (o outside) format() string {
	return formatFilter(o.Filter, pixel.Nearest) + formatValues("fill", o.Fill)
}

func (o outside) check(name string, bins, channels int) error {
	if bins < 2 {
		return fmt.Errorf("%s: %d bins: wanted 2 or more", name, bins)
	}
	a := resample.Affine{Filter: o.filter(), Fill: o.Fill}
	if err := a.Check(channels); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return checkColors(name, channels)
}

// plan is torchvision's _apply_op.
func (o outside) plan(s *Steps, a automatic, magnitude float64) {
	move := func(m [6]float64) { s.Affine(m, o.filter(), o.Fill) }
	switch a {
	case shearX:
		move([6]float64{1, math.Tan(math.Atan(magnitude)), 0, 0, 1, 0})
	case shearY:
		sin, cos := math.Sincos(math.Atan(magnitude))
		move([6]float64{1, 0, 0, sin / cos, 1, 0})
	case translateX:
		move([6]float64{1, 0, -math.Trunc(magnitude), 0, 1, 0})
	case translateY:
		move([6]float64{1, 0, 0, 0, 1, -math.Trunc(magnitude)})
	case turn:
		s.Rotate(magnitude, o.filter(), false, nil, o.Fill)
	case brightness:
		s.Enhance(Brightness, 1+magnitude)
	case saturation:
		s.Enhance(Saturation, 1+magnitude)
	case contrast:
		s.Enhance(Contrast, 1+magnitude)
	case sharpness:
		s.Sharpen(1 + magnitude)
	case posterize:
		s.Enhance(Posterize, magnitude)
	case solarize:
		s.Enhance(Solarize, magnitude)
	case autocontrast:
		s.Enhance(AutoContrast, 0)
	case equalize:
		s.Enhance(Equalize, 0)
	}
}

// RandAugment makes Ops changes one after another, each chosen evenly from 14, all by the same
// magnitude: torchvision.transforms.RandAugment (Cubuk et al.: "RandAugment: Practical
// automated data augmentation with a reduced search space", NeurIPS 2020).
type RandAugment struct {
	// Ops is the number of changes, Magnitude the one of Bins magnitudes that is taken, counted
	// from 0. If all three are 0 they are 2, 9 and 31; Bins alone is 31 if 0.
	Ops, Magnitude, Bins int
	// Filter is nearest, bilinear or bicubic; nearest if empty.
	Filter pixel.Filter
	// Fill is for what lies outside of the image, of 0 to 255: one value for all channels or
	// one for each; nil is 0.
	Fill []float64
	// V2 has Solarize's thresholds from torchvision.transforms.v2, which by rounding lie a hair
	// above a level where those of v1 are that level.
	V2 bool
}

// maxOps keeps a slip from taking for ever.
const maxOps = 100

var defaultRandAugment = RandAugment{Ops: 2, Magnitude: 9, Bins: defaultBins}

func (o RandAugment) filled() RandAugment {
	if o.Ops == 0 && o.Magnitude == 0 && o.Bins == 0 {
		o.Ops, o.Magnitude = defaultRandAugment.Ops, defaultRandAugment.Magnitude
	}
	o.Bins = cmp.Or(o.Bins, defaultBins)
	return o
}

func (o RandAugment) String() string {
	o = o.filled()
	s := "randaugment"
	if o.Ops != defaultRandAugment.Ops {
		s += fmt.Sprintf(":ops=%d", o.Ops)
	}
	if o.Magnitude != defaultRandAugment.Magnitude {
		s += fmt.Sprintf(":magnitude=%d", o.Magnitude)
	}
	return s + formatOption("bins", o.Bins, defaultBins, strconv.Itoa) + o.outside().format() + formatFlag("v2", o.V2)
}

func (o RandAugment) outside() outside { return outside{o.Filter, o.Fill} }

// Check implements Op.
func (o RandAugment) Check(channels int) error {
	o = o.filled()
	if o.Ops < 0 || o.Ops > maxOps || o.Magnitude < 0 || o.Magnitude >= o.Bins {
		return fmt.Errorf("randaugment: ops=%d, magnitude=%d, bins=%d: wanted at most %d ops, and a magnitude below bins",
			o.Ops, o.Magnitude, o.Bins, maxOps)
	}
	return o.outside().check("randaugment", o.Bins, channels)
}

// AddTo implements Op.
func (o RandAugment) AddTo(s *Steps, r *random.Rand) {
	o = o.filled()
	const reach = 150.0 / 331.0
	most := space{
		shear: 0.3, translateX: reach * float64(s.path.W), translateY: reach * float64(s.path.H),
		turn: 30, blend: 0.9, bits: 4, v2: o.V2,
	}
	for range o.Ops {
		a := automatic(r.IntN(int(automatics)))
		magnitude := most.magnitude(a, o.Magnitude, o.Bins)
		if a.signed() && r.IntN(2) == 1 {
			magnitude = -magnitude
		}
		o.outside().plan(s, a, magnitude)
	}
}

// TrivialAugmentWide makes one change, chosen evenly from 14, by a magnitude chosen evenly
// from Bins: torchvision.transforms.TrivialAugmentWide (Müller, Hutter: "TrivialAugment:
// Tuning-free Yet State-of-the-Art Data Augmentation", ICCV 2021).
type TrivialAugmentWide struct {
	// Bins is the number of magnitudes; 31 if 0.
	Bins int
	// Filter is nearest, bilinear or bicubic; nearest if empty.
	Filter pixel.Filter
	// Fill is for what lies outside of the image, of 0 to 255: one value for all channels or
	// one for each; nil is 0.
	Fill []float64
	// V2 has Solarize's thresholds from torchvision.transforms.v2, which by rounding lie a hair
	// above a level where those of v1 are that level.
	V2 bool
}

const defaultBins = 31

var wide = space{shear: 0.99, translateX: 32, translateY: 32, turn: 135, blend: 0.99, bits: 6}

func (o TrivialAugmentWide) outside() outside { return outside{o.Filter, o.Fill} }

func (o TrivialAugmentWide) String() string {
	return "trivialaugment" + formatOption("bins", o.Bins, defaultBins, strconv.Itoa) + o.outside().format() + formatFlag("v2", o.V2)
}

// Check implements Op.
func (o TrivialAugmentWide) Check(channels int) error {
	return o.outside().check("trivialaugment", cmp.Or(o.Bins, defaultBins), channels)
}

// AddTo implements Op.
func (o TrivialAugmentWide) AddTo(s *Steps, r *random.Rand) {
	a := automatic(r.IntN(int(automatics)))
	bins := cmp.Or(o.Bins, defaultBins)
	most := wide
	most.v2 = o.V2
	magnitude := most.magnitude(a, r.IntN(bins), bins)
	if a.signed() && r.IntN(2) == 1 {
		magnitude = -magnitude
	}
	o.outside().plan(s, a, magnitude)
}
