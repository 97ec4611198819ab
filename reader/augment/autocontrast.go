package augment

import (
	"github.com/dsconv/dsconv/preprocess/pixelops"
	"github.com/dsconv/dsconv/reader/random"
)

// RandomAutocontrast stretches the values of each channel to 0 to 255 with probability P:
// torchvision.transforms.RandomAutocontrast.
type RandomAutocontrast struct {
	P float64
}

func (o RandomAutocontrast) String() string { return formatChance("autocontrast", o.P) }

// Check implements Op.
func (o RandomAutocontrast) Check(channels int) error {
	return checkRandomColors("autocontrast", o.P, channels)
}

// Plan implements Op.
func (o RandomAutocontrast) Plan(p *Plan, r *random.Rand) {
	if r.Float64() < o.P {
		p.Enhance(pixelops.AutoContrast, 0)
	}
}
