package augment

import (
	"fmt"

	"github.com/dsconv/dsconv/reader/random"
)

// RandomAdjustSharpness changes the sharpness by Factor with probability P: 0 is smooth, 1 the
// image as it is, 2 twice as sharp. It is torchvision.transforms.RandomAdjustSharpness.
type RandomAdjustSharpness struct {
	Factor float64
	P      float64
}

func (o RandomAdjustSharpness) String() string {
	return formatChance("sharpness:"+formatFloat(o.Factor), o.P)
}

// Check implements Op.
func (o RandomAdjustSharpness) Check(channels int) error {
	if !(0 <= o.Factor && o.Factor <= 1e6) {
		return fmt.Errorf("sharpness: factor %v is negative or not a number", o.Factor)
	}
	return checkRandomColors("sharpness", o.P, channels)
}

// Plan implements Op.
func (o RandomAdjustSharpness) Plan(p *Plan, r *random.Rand) {
	if r.Float64() < o.P {
		p.Sharpen(o.Factor)
	}
}
