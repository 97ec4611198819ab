package augment

import (
	"fmt"

	"github.com/dsconv/dsconv/reader/random"
)

// RandomApply does all of Ops, one after another, with probability P, else nothing:
// torchvision.transforms.RandomApply.
type RandomApply struct {
	P   float64
	Ops []Op
}

func (o RandomApply) String() string {
	return "apply:" + formatFloat(o.P) + ":" + join(o.Ops, "+")
}

// Check implements Op.
func (o RandomApply) Check(channels int) error {
	for i, op := range o.Ops {
		if op == nil {
			return fmt.Errorf("apply: transform %d of %d is nil", i+1, len(o.Ops))
		}
		if !onPixels(op) {
			return fmt.Errorf("apply: %s acts on what is in the batch and cannot be left out", op)
		}
		if err := op.Check(channels); err != nil {
			return fmt.Errorf("apply: %w", err)
		}
	}
	return checkChance("apply", o.P)
}

// onPixels reports whether o acts on an image and not on what is in the batch.
func onPixels(o Op) bool {
	_, inBatch := o.(stored)
	_, mixes := o.(Mixer)
	return !inBatch && !mixes
}

// AddTo implements Op.
func (o RandomApply) AddTo(s *Steps, r *random.Rand) {
	if r.Float64() >= o.P {
		return
	}
	for _, op := range o.Ops {
		if s.err == nil {
			op.AddTo(s, r)
		}
	}
}

func (o RandomApply) sizing() sizing {
	for _, op := range o.Ops {
		if sizingOf(op) != keepsSize {
			return variesSize
		}
	}
	return keepsSize
}
