package augment

import "github.com/dsconv/dsconv/reader/random"

// RandomHorizontalFlip mirrors the image left to right with probability P:
// torchvision.transforms.RandomHorizontalFlip.
type RandomHorizontalFlip struct{ P float64 }

func (o RandomHorizontalFlip) String() string { return formatChance("flip", o.P) }

// Check implements Op.
func (o RandomHorizontalFlip) Check(int) error { return checkChance("flip", o.P) }

// AddTo implements Op.
func (o RandomHorizontalFlip) AddTo(s *Steps, r *random.Rand) {
	if r.Float64() < o.P {
		s.Flip()
	}
}

// RandomVerticalFlip mirrors the image top to bottom with probability P:
// torchvision.transforms.RandomVerticalFlip.
type RandomVerticalFlip struct{ P float64 }

func (o RandomVerticalFlip) String() string { return formatChance("vflip", o.P) }

// Check implements Op.
func (o RandomVerticalFlip) Check(int) error { return checkChance("vflip", o.P) }

// AddTo implements Op.
func (o RandomVerticalFlip) AddTo(s *Steps, r *random.Rand) {
	if r.Float64() < o.P {
		s.FlipV()
	}
}
