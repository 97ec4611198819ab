package augment

import (
	"cmp"
	"fmt"

	"github.com/dsconv/dsconv/reader/random"
)

// ColorJitter changes brightness, contrast, saturation and hue in random order by random
// factors: torchvision.transforms.ColorJitter. The factors of the first three are drawn from
// [max(0, 1-x), 1+x], that of the hue from [-x, x] turns of the colour circle, x at most
// 0.5; 0 leaves that property alone. On grey images saturation and hue do nothing.
type ColorJitter struct {
	Brightness, Contrast, Saturation, Hue float64
	// Ranges are what the four factors are drawn from instead, low and high, in that order;
	// one that is zero leaves it to the number above.
	Ranges [4][2]float64
}

func (o ColorJitter) strengths() [4]float64 {
	return [4]float64{o.Brightness, o.Contrast, o.Saturation, o.Hue}
}

func (o ColorJitter) String() string {
	if o.Ranges == [4][2]float64{} && o.Hue == 0 && o.Brightness == o.Contrast && o.Contrast == o.Saturation {
		return "jitter:" + formatFloat(o.Brightness)
	}
	s := "jitter"
	for i, x := range o.strengths() {
		if r := o.Ranges[i]; r != [2]float64{} {
			s += ":" + formatFloats(r[:])
		} else {
			s += ":" + formatFloat(x)
		}
	}
	return s
}

// Check implements Op.
func (o ColorJitter) Check(channels int) error {
	for _, x := range o.strengths() {
		if !(0 <= x && x <= 1e6) {
			return fmt.Errorf("jitter: strength %v is negative or not a number", x)
		}
	}
	if o.Hue > 0.5 {
		return fmt.Errorf("jitter: hue %v is more than 0.5", o.Hue)
	}
	least, most := [4]float64{3: -0.5}, [4]float64{1e6, 1e6, 1e6, 0.5}
	for i, r := range o.Ranges {
		if !(least[i] <= r[0] && r[0] <= r[1] && r[1] <= most[i]) {
			return fmt.Errorf("jitter: range %s: wanted %v <= low <= high <= %v", formatFloats(r[:]), least[i], most[i])
		}
	}
	return checkColors("jitter", channels)
}

// AddTo implements Op.
func (o ColorJitter) AddTo(s *Steps, r *random.Rand) {
	type jitter struct {
		change Change
		varies bool
		factor float64
	}
	changes := [4]Change{Brightness, Contrast, Saturation, Hue}
	var jitters [4]jitter
	for i, c := range changes {
		low, high := o.bounds(i)
		jitters[i] = jitter{c, o.strengths()[i] != 0 || o.Ranges[i] != [2]float64{}, r.Uniform(low, high)}
	}
	for i := len(jitters) - 1; i > 0; i-- {
		j := r.IntN(i + 1)
		jitters[i], jitters[j] = jitters[j], jitters[i]
	}
	for _, j := range jitters {
		if j.varies {
			s.Enhance(j.change, j.factor)
		}
	}
}

// bounds is what the i-th factor is drawn from.
func (o ColorJitter) bounds(i int) (low, high float64) {
	x := o.strengths()[i]
	switch {
	case o.Ranges[i] != [2]float64{}:
		return o.Ranges[i][0], o.Ranges[i][1]
	case i == 3:
		return -x, x
	}
	return max(0, 1-x), 1 + x
}

// The ops from here to RandomAdjustSharpness change an image's colours with a probability, else not at all.

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

// GaussianBlur blurs the image by a Gaussian kernel of H by W pixels, both odd, its standard
// deviation drawn evenly from Sigma: torchvision.transforms.GaussianBlur. A value at the
// border of two levels may come out 1 off, because PyTorch adds up in another order.
type GaussianBlur struct {
	H, W int
	// Sigma is (0.1, 2) if zero.
	Sigma [2]float64
}

var defaultSigma = [2]float64{0.1, 2}

func (o GaussianBlur) sigma() [2]float64 { return cmp.Or(o.Sigma, defaultSigma) }

func (o GaussianBlur) String() string {
	return "blur:" + formatSize(o.H, o.W) + formatOption("sigma", o.Sigma, defaultSigma, formatRange)
}

// Check implements Op.
func (o GaussianBlur) Check(channels int) error {
	s := o.sigma()
	switch {
	case min(o.H, o.W) <= 0 || max(o.H, o.W) > maxSide || o.H%2 == 0 || o.W%2 == 0:
		return fmt.Errorf("blur: kernel %s: width and height must be odd, from 1 to %d", formatSize(o.H, o.W), maxSide)
	case !(0 < s[0] && s[0] <= s[1] && s[1] <= 1e6):
		return fmt.Errorf("blur: sigma %s: wanted 0 < low <= high", formatRange(s))
	}
	return checkColors("blur", channels)
}

// AddTo implements Op. An image of up to half a kernel has too few pixels to mirror.
func (o GaussianBlur) AddTo(s *Steps, r *random.Rand) {
	sigmas := o.sigma()
	s.Blur(o.H, o.W, r.Uniform(sigmas[0], sigmas[1]))
}
