package augment

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
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

func (o RandomErasing) scale() [2]float64 { return cmp.Or(o.Scale, erasedScale) }
func (o RandomErasing) ratio() [2]float64 { return cmp.Or(o.Ratio, erasedRatio) }

func (o RandomErasing) String() string {
	value := formatValues("value", o.Value)
	if o.Random {
		value = ":value=random"
	}
	return formatChance("erase", o.P) + formatOption("scale", o.Scale, erasedScale, formatRange) +
		formatOption("ratio", o.Ratio, erasedRatio, formatRange) + value
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

// AddTo implements Op.
func (o RandomErasing) AddTo(s *Steps, r *random.Rand) {
	if r.Float64() >= o.P {
		return
	}
	part, ok := o.draw(s.path.H, s.path.W, r)
	if !ok {
		return
	}
	value := o.Value
	if value == nil && !o.Random {
		value = zeroValue
	}
	s.Erase(part, value, r)
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

// erasure overwrites a part of a stored entry.
type erasure struct {
	part   pixel.Rect
	values []float64 // one for all channels or one for each; nil is Gaussian noise
	noise  random.Rand
}

// Erase overwrites the part r of the stored entry, in its type and after Normalize, with
// values: one for all channels or one for each. nil is noise of mean 0 and standard deviation
// 1, keyed by one draw from noise. s keeps values.
func (s *Steps) Erase(r pixel.Rect, values []float64, noise *random.Rand) {
	if err := resample.CheckFill(values, s.c); err != nil || !r.Inside(s.path.W, s.path.H) {
		s.Fail(cmp.Or(err, fmt.Errorf("erase %dx%d at %d,%d: it is not inside the image of %dx%d", r.W, r.H, r.X, r.Y, s.path.W, s.path.H)))
		return
	}
	e := erasure{part: r, values: values}
	if values == nil {
		e.noise = random.Rand{State: noise.Uint64()}
	}
	s.erasures = append(s.erasures, e)
}

func (e *erasure) erase(t *resample.Target) error {
	noise := e.noise
	return t.Erase(e.part, func(k int) float32 { return e.value(k, &noise) })
}

// value is the next value for channel k, drawn from noise if it is random.
func (e *erasure) value(k int, noise *random.Rand) float32 {
	if e.values == nil {
		return float32(noise.Normal())
	}
	return float32(e.values[min(k, len(e.values)-1)])
}
