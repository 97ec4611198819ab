package augment

import (
	"fmt"

	"github.com/dsconv/dsconv/preprocess/pixelops"
	"github.com/dsconv/dsconv/reader/random"
)

// RandomGrayscale makes the image grey with probability P, with as many channels as it has:
// torchvision.transforms.RandomGrayscale, and Grayscale if P is 1. Grey images stay as they
// are.
type RandomGrayscale struct {
	P float64
}

func (o RandomGrayscale) String() string {
	if o.P == 1 {
		return "gray"
	}
	return "gray:" + formatFloat(o.P)
}

// Check implements Op.
func (o RandomGrayscale) Check(channels int) error { return checkRandomColors("gray", o.P, channels) }

// Plan implements Op.
func (o RandomGrayscale) Plan(p *Plan, r *random.Rand) {
	if r.Float64() < o.P {
		p.Enhance(pixelops.Gray, 0)
	}
}

// checkColors reports images whose colours cannot be changed.
func checkColors(name string, channels int) error {
	if channels != 1 && channels != 3 {
		return fmt.Errorf("%s: images of %d channels: choose the color rgb or gray", name, channels)
	}
	return nil
}

func checkRandomColors(name string, p float64, channels int) error {
	if err := checkChance(name, p); err != nil {
		return err
	}
	return checkColors(name, channels)
}
