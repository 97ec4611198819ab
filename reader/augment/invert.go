package augment

import (
	"github.com/dsconv/dsconv/preprocess/pixelops"
	"github.com/dsconv/dsconv/reader/random"
)

// RandomInvert makes a negative of the image with probability P:
// torchvision.transforms.RandomInvert.
type RandomInvert struct {
	P float64
}

func (o RandomInvert) String() string { return formatChance("invert", o.P) }

// Check implements Op.
func (o RandomInvert) Check(channels int) error {
	return checkRandomColors("invert", o.P, channels)
}

// Plan implements Op.
func (o RandomInvert) Plan(p *Plan, r *random.Rand) {
	if r.Float64() < o.P {
		p.Enhance(pixelops.Invert, 0)
	}
}
