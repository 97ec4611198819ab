package augment

import (
	"fmt"
	"math"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/preprocess/resample"
	"github.com/dsconv/dsconv/reader/random"
)

// RandomErasing overwrites a part of random area and aspect ratio with probability P:
// torchvision.transforms.RandomErasing. It comes after Normalize and acts on what is in the
// batch: on normalised values there, on values from 0 to 1 without Normalize, on those from 0
// to 255 or 65535 in batches of uint8 or uint16. Masks and boxes stay as they are.
type RandomErasing struct {
	P float64
	// Scale bounds the part's share of the area; zero is (0.02, 0.33).
	Scale [2]float64
	// Ratio bounds height/width, drawn evenly on a log scale; zero is (0.3, 3.3).
	Ratio [2]float64
	// Value is one value for all channels or one for each; nil is 0.
	Value []float64
	// Random erases with noise of mean 0 and standard deviation 1 instead. It needs batches of
	// floats.
	Random bool
}

var (
	erasedScale = [2]float64{0.02, 0.33}
	erasedRatio = [2]float64{0.3, 3.3}
	zeroValue   = []float64{0}
)

func (o RandomErasing) scale() [2]float64 { return orElse(o.Scale, erasedScale) }
func (o RandomErasing) ratio() [2]float64 { return orElse(o.Ratio, erasedRatio) }

func orElse(r, other [2]float64) [2]float64 {
	if r == [2]float64{} {
		return other
	}
	return r
}

func (o RandomErasing) String() string {
	var s strings.Builder
	s.WriteString(formatChance("erase", o.P))
	if o.scale() != erasedScale {
		s.WriteString(":scale=" + formatRange(o.Scale))
	}
	if o.ratio() != erasedRatio {
		s.WriteString(":ratio=" + formatRange(o.Ratio))
	}
	switch {
	case o.Random:
		s.WriteString(":value=random")
	case o.Value != nil:
		s.WriteString(":value=" + formatFloats(o.Value))
	}
	return s.String()
}

// Check implements Op.
func (o RandomErasing) Check(channels int) error {
	s, r := o.scale(), o.ratio()
	switch {
	case !(0 <= s[0] && s[0] <= s[1] && s[1] <= 1):
		return fmt.Errorf("erase: scale %s: wanted 0 <= low <= high <= 1", formatRange(s))
	case !(0 < r[0] && r[0] <= r[1] && r[1] <= 1e6):
		return fmt.Errorf("erase: ratio %s: wanted 0 < low <= high", formatRange(r))
	case o.Random && o.Value != nil:
		return fmt.Errorf("erase: the value is %v and random at once; give one of them", o.Value)
	}
	if err := resample.CheckFill(o.Value, channels); err != nil {
		return fmt.Errorf("erase: %w", err)
	}
	return checkChance("erase", o.P)
}

// checkBatch reports values that batches of d cannot hold.
func (o RandomErasing) checkBatch(d formats.DType) error {
	most := map[formats.DType]float64{formats.Uint8: math.MaxUint8, formats.Uint16: math.MaxUint16}[d]
	if most == 0 {
		return nil
	}
	if o.Random {
		return fmt.Errorf("erase: random values need batches of floats, not of %s", d)
	}
	for _, v := range o.Value {
		if !(0 <= v && v <= most) {
			return fmt.Errorf("erase: value %v is outside of %s", v, d)
		}
	}
	return nil
}

// Plan implements Op.
func (o RandomErasing) Plan(p *Plan, r *random.Rand) {
	if r.Float64() >= o.P {
		return
	}
	part, ok := o.draw(p.H, p.W, r)
	if !ok {
		return
	}
	value := o.Value
	if value == nil && !o.Random {
		value = zeroValue
	}
	p.Erase(part, value, r)
}

// draw is torchvision's get_params: ten tries, then nothing is erased.
func (o RandomErasing) draw(h, w int, r *random.Rand) (pixel.Rect, bool) {
	for range 10 {
		eh, ew := drawSides(h*w, o.scale(), o.ratio(), r)
		if eh < h && ew < w {
			y := r.IntN(h - eh + 1)
			return pixel.Rect{X: r.IntN(w - ew + 1), Y: y, W: ew, H: eh}, eh > 0 && ew > 0
		}
	}
	return pixel.Rect{}, false
}
