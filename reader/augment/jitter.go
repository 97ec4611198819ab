package augment

import (
	"fmt"

	"github.com/dsconv/dsconv/preprocess"
)

// ColorJitter changes brightness, contrast, saturation and hue in random order by random
// factors: torchvision.transforms.ColorJitter with single numbers. The factors of the
// first three are drawn from [max(0, 1-x), 1+x], that of the hue from [-x, x] turns of
// the colour circle, x at most 0.5; 0 leaves that property alone. On grey images
// saturation and hue do nothing.
type ColorJitter struct {
	Brightness, Contrast, Saturation, Hue float64
}

func (o ColorJitter) String() string {
	if o.Hue == 0 && o.Brightness == o.Contrast && o.Contrast == o.Saturation {
		return "jitter:" + formatFloat(o.Brightness)
	}
	return fmt.Sprintf("jitter:%s:%s:%s:%s", formatFloat(o.Brightness),
		formatFloat(o.Contrast), formatFloat(o.Saturation), formatFloat(o.Hue))
}

// Check implements Op.
func (o ColorJitter) Check(channels int) error {
	for _, x := range []float64{o.Brightness, o.Contrast, o.Saturation, o.Hue} {
		if !(0 <= x && x <= 1e6) {
			return fmt.Errorf("jitter: strength %v is negative or no number", x)
		}
	}
	if o.Hue > 0.5 {
		return fmt.Errorf("jitter: hue %v is more than 0.5", o.Hue)
	}
	return checkColors("jitter", channels)
}

// Plan implements Op.
func (o ColorJitter) Plan(p *Plan, r *Rand) {
	jitters := [4]struct {
		change   preprocess.Change
		strength float64
		factor   float64
	}{
		{preprocess.Brightness, o.Brightness, around(1, o.Brightness, r)},
		{preprocess.Contrast, o.Contrast, around(1, o.Contrast, r)},
		{preprocess.Saturation, o.Saturation, around(1, o.Saturation, r)},
		{preprocess.Hue, o.Hue, r.Uniform(-o.Hue, o.Hue)},
	}
	for i := len(jitters) - 1; i > 0; i-- {
		j := r.IntN(i + 1)
		jitters[i], jitters[j] = jitters[j], jitters[i]
	}
	for _, j := range jitters {
		if j.strength != 0 {
			p.Enhance(j.change, j.factor)
		}
	}
}

func around(center, strength float64, r *Rand) float64 {
	return r.Uniform(max(0, center-strength), center+strength)
}
