package augment

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/random"
)

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
