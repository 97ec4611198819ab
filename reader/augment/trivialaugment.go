package augment

import (
	"cmp"
	"strconv"

	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/random"
)

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
