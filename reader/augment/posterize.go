package augment

import (
	"fmt"

	"github.com/dsconv/dsconv/preprocess/pixelops"
	"github.com/dsconv/dsconv/reader/random"
)

// RandomPosterize keeps the highest Bits bits of each value, 1 to 8, with probability P:
// torchvision.transforms.RandomPosterize.
type RandomPosterize struct {
	Bits int
	P    float64
}

func (o RandomPosterize) String() string {
	return formatChance(fmt.Sprintf("posterize:%d", o.Bits), o.P)
}

// Check implements Op.
func (o RandomPosterize) Check(channels int) error {
	if o.Bits < 1 || o.Bits > 8 {
		return fmt.Errorf("posterize: %d bits: wanted 1 to 8", o.Bits)
	}
	return checkRandomColors("posterize", o.P, channels)
}

// Plan implements Op.
func (o RandomPosterize) Plan(p *Plan, r *random.Rand) {
	if r.Float64() < o.P {
		p.Enhance(pixelops.Posterize, float64(o.Bits))
	}
}
