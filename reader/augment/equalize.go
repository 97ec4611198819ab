package augment

import (
	"github.com/dsconv/dsconv/preprocess/pixelops"
	"github.com/dsconv/dsconv/reader/random"
)

// RandomEqualize makes the values of each channel about equally frequent with probability P:
// torchvision.transforms.RandomEqualize.
type RandomEqualize struct {
	P float64
}

func (o RandomEqualize) String() string { return formatChance("equalize", o.P) }

// Check implements Op.
func (o RandomEqualize) Check(channels int) error {
	return checkRandomColors("equalize", o.P, channels)
}

// Plan implements Op.
func (o RandomEqualize) Plan(p *Plan, r *random.Rand) {
	if r.Float64() < o.P {
		p.Enhance(pixelops.Equalize, 0)
	}
}
