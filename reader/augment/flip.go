package augment

import "fmt"

// RandomHorizontalFlip mirrors the image left to right with probability P:
// torchvision.transforms.RandomHorizontalFlip.
type RandomHorizontalFlip struct {
	P float64
}

func (o RandomHorizontalFlip) String() string {
	if o.P == 0.5 {
		return "flip"
	}
	return "flip:" + formatFloat(o.P)
}

// Check implements Op.
func (o RandomHorizontalFlip) Check(int) error {
	if !(0 <= o.P && o.P <= 1) {
		return fmt.Errorf("flip: probability %v is not between 0 and 1", o.P)
	}
	return nil
}

// Plan implements Op.
func (o RandomHorizontalFlip) Plan(p *Plan, r *Rand) {
	if r.Float64() < o.P {
		p.Flip()
	}
}
