package augment

import (
	"fmt"

	"github.com/dsconv/dsconv/preprocess/pixelops"
	"github.com/dsconv/dsconv/reader/random"
)

// RandomSolarize inverts the values from Threshold on, of 0 to 255, with probability P:
// torchvision.transforms.RandomSolarize.
type RandomSolarize struct {
	Threshold float64
	P         float64
}

func (o RandomSolarize) String() string {
	return formatChance("solarize:"+formatFloat(o.Threshold), o.P)
}

// Check implements Op.
func (o RandomSolarize) Check(channels int) error {
	if !(0 <= o.Threshold && o.Threshold <= 256) {
		return fmt.Errorf("solarize: threshold %v: wanted 0 to 256", o.Threshold)
	}
	return checkRandomColors("solarize", o.P, channels)
}

// Plan implements Op.
func (o RandomSolarize) Plan(p *Plan, r *random.Rand) {
	if r.Float64() < o.P {
		p.Enhance(pixelops.Solarize, o.Threshold)
	}
}
