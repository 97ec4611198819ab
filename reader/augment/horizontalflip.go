package augment

import (
	"fmt"

	"github.com/dsconv/dsconv/reader/random"
)

// RandomHorizontalFlip mirrors the image left to right with probability P:
// torchvision.transforms.RandomHorizontalFlip.
type RandomHorizontalFlip struct {
	P float64
}

func (o RandomHorizontalFlip) String() string { return formatChance("flip", o.P) }

// Check implements Op.
func (o RandomHorizontalFlip) Check(int) error { return checkChance("flip", o.P) }

// Plan implements Op.
func (o RandomHorizontalFlip) Plan(p *Plan, r *random.Rand) {
	if r.Float64() < o.P {
		p.Flip()
	}
}

// formatChance leaves out the probability that is usual.
func formatChance(name string, p float64) string {
	if p == 0.5 {
		return name
	}
	return name + ":" + formatFloat(p)
}

func checkChance(name string, p float64) error {
	if !(0 <= p && p <= 1) {
		return fmt.Errorf("%s: probability %v is not between 0 and 1", name, p)
	}
	return nil
}
