package augment

import (
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
