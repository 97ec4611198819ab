package augment

import (
	"cmp"
	"fmt"

	"github.com/dsconv/dsconv/reader/random"
)

// The ops of this file change an image's colours with a probability, else not at all.

// RandomGrayscale makes the image grey with probability P, with as many channels as it has:
// torchvision.transforms.RandomGrayscale, and Grayscale if P is 1. Grey images stay as they
// are.
type RandomGrayscale struct{ P float64 }

func (o RandomGrayscale) String() string {
	if o.P == 1 {
		return "gray"
	}
	return "gray:" + formatFloat(o.P)
}

// Check implements Op.
func (o RandomGrayscale) Check(channels int) error { return checkRandomColors("gray", o.P, channels) }

// AddTo implements Op.
func (o RandomGrayscale) AddTo(s *Steps, r *random.Rand) { s.maybeEnhance(o.P, Gray, 0, r) }

// RandomInvert makes a negative of the image with probability P:
// torchvision.transforms.RandomInvert.
type RandomInvert struct{ P float64 }

func (o RandomInvert) String() string { return formatChance("invert", o.P) }

// Check implements Op.
func (o RandomInvert) Check(channels int) error { return checkRandomColors("invert", o.P, channels) }

// AddTo implements Op.
func (o RandomInvert) AddTo(s *Steps, r *random.Rand) { s.maybeEnhance(o.P, Invert, 0, r) }

// RandomAutocontrast stretches the values of each channel to 0 to 255 with probability P:
// torchvision.transforms.RandomAutocontrast.
type RandomAutocontrast struct{ P float64 }

func (o RandomAutocontrast) String() string { return formatChance("autocontrast", o.P) }

// Check implements Op.
func (o RandomAutocontrast) Check(channels int) error {
	return checkRandomColors("autocontrast", o.P, channels)
}

// AddTo implements Op.
func (o RandomAutocontrast) AddTo(s *Steps, r *random.Rand) {
	s.maybeEnhance(o.P, AutoContrast, 0, r)
}

// RandomEqualize makes the values of each channel about equally frequent with probability P:
// torchvision.transforms.RandomEqualize.
type RandomEqualize struct{ P float64 }

func (o RandomEqualize) String() string { return formatChance("equalize", o.P) }

// Check implements Op.
func (o RandomEqualize) Check(channels int) error {
	return checkRandomColors("equalize", o.P, channels)
}

// AddTo implements Op.
func (o RandomEqualize) AddTo(s *Steps, r *random.Rand) { s.maybeEnhance(o.P, Equalize, 0, r) }

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

// AddTo implements Op.
func (o RandomPosterize) AddTo(s *Steps, r *random.Rand) {
	s.maybeEnhance(o.P, Posterize, float64(o.Bits), r)
}

// RandomSolarize inverts the values from Threshold on, of 0 to 255, with probability P:
// torchvision.transforms.RandomSolarize.
type RandomSolarize struct{ Threshold, P float64 }

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

// AddTo implements Op.
func (o RandomSolarize) AddTo(s *Steps, r *random.Rand) {
	s.maybeEnhance(o.P, Solarize, o.Threshold, r)
}

// RandomAdjustSharpness changes the sharpness by Factor with probability P: 0 is smooth, 1 the
// image as it is, 2 twice as sharp. It is torchvision.transforms.RandomAdjustSharpness.
type RandomAdjustSharpness struct{ Factor, P float64 }

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

// AddTo implements Op.
func (o RandomAdjustSharpness) AddTo(s *Steps, r *random.Rand) {
	if r.Float64() < o.P {
		s.Sharpen(o.Factor)
	}
}

// maybeEnhance makes the change with the given probability.
func (s *Steps) maybeEnhance(chance float64, c Change, factor float64, r *random.Rand) {
	if r.Float64() < chance {
		s.Enhance(c, factor)
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
	return cmp.Or(checkChance(name, p), checkColors(name, channels))
}
