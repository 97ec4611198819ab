package augment

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/random"
)

// Normalize subtracts Mean from each channel and divides by Std, after the pixels were
// scaled to [0, 1]: torchvision.transforms.Normalize behind ToTensor. One element stands
// for all channels. Only RandomErasing may come after it; it needs batches of floats.
type Normalize struct {
	Mean, Std []float64
}

// NormalizeByDataset is Normalize by the figures of the dataset that is loaded, which dsconv pack --stats
// records. A Loader puts a Normalize with the figures in its place: its Config has it.
type NormalizeByDataset struct{}

func (NormalizeByDataset) String() string { return "normalize:dataset" }

// Check implements Op.
func (NormalizeByDataset) Check(int) error { return nil }

// AddTo implements Op.
func (NormalizeByDataset) AddTo(s *Steps, _ *random.Rand) {
	s.Fail(errNoDataset)
}

// checkBatch reports that there is no dataset: a Loader has put a Normalize in the place.
func (NormalizeByDataset) checkBatch(formats.DType) error { return errNoDataset }

// errNoDataset is returned for a NormalizeByDataset where there is no dataset whose figures it could take.
var errNoDataset = errors.New("normalize:dataset takes the figures of a dataset, and here is none: give normalize:MEAN:STD")

// ImageNet normalises by the mean and standard deviation of ImageNet's training images,
// as torchvision's pretrained models expect.
var ImageNet = Normalize{
	Mean: []float64{0.485, 0.456, 0.406},
	Std:  []float64{0.229, 0.224, 0.225},
}

// ForDataset returns o with the figures of the dataset that m describes in place of each NormalizeByDataset:
// those of m.Normalization, for images of that color. The error says why the dataset has none.
func (o Ops) ForDataset(m *formats.Meta, color pixel.Color) (Ops, error) {
	needs := func(op Op) bool { _, ok := op.(NormalizeByDataset); return ok }
	if !slices.ContainsFunc(o, needs) {
		return o, nil
	}
	figures, err := m.Normalization()
	if err != nil {
		return nil, fmt.Errorf("normalize:dataset: %w", err)
	}
	by := Normalize{Mean: figures.Mean[:], Std: figures.Std[:]}
	if color == pixel.ColorGray {
		for c := range by.Mean {
			if by.Mean[c] != by.Mean[0] || by.Std[c] != by.Std[0] {
				return nil, errors.New("normalize:dataset: the dataset's statistics are of its colours: load it in color rgb, or give the figures of its grey images, normalize:MEAN:STD")
			}
		}
		by = Normalize{Mean: by.Mean[:1], Std: by.Std[:1]}
	}
	placed := slices.Clone(o)
	for i, op := range placed {
		if needs(op) {
			placed[i] = by
		}
	}
	return placed, nil
}

func (o Normalize) String() string {
	if s := formatFloats(o.Mean) + ":" + formatFloats(o.Std); s != formatFloats(ImageNet.Mean)+":"+formatFloats(ImageNet.Std) {
		return "normalize:" + s
	}
	return "normalize"
}

// Check implements Op.
func (o Normalize) Check(channels int) error {
	for _, v := range [][]float64{o.Mean, o.Std} {
		if len(v) != 1 && len(v) != channels {
			return fmt.Errorf("normalize: %d values for images of %d channels", len(v), channels)
		}
	}
	for _, m := range o.Mean {
		if math.IsNaN(m) || math.IsInf(m, 0) {
			return fmt.Errorf("normalize: mean %v is not a finite number", m)
		}
	}
	for _, s := range o.Std {
		if !(s > 0) || math.IsInf(s, 0) {
			return fmt.Errorf("normalize: standard deviation %v is not positive and finite", s)
		}
	}
	return nil
}

// checkBatch reports batches of integers.
func (o Normalize) checkBatch(d formats.DType) error {
	if d == formats.Uint8 || d == formats.Uint16 {
		return fmt.Errorf("normalize needs batches of %s, %s or %s, not of %s",
			formats.Float32, formats.Float16, formats.BFloat16, d)
	}
	return nil
}

// AddTo implements Op; the last pass normalises.
func (o Normalize) AddTo(*Steps, *random.Rand) {}

// channel is mean and standard deviation of channel c.
func (o Normalize) channel(c int) (mean, std float32) {
	return float32(o.Mean[min(c, len(o.Mean)-1)]), float32(o.Std[min(c, len(o.Std)-1)])
}

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

// Mixer is an Op that mixes each image of a batch, and its label, with the one before it, and the
// first with the last: torchvision.transforms.v2's MixUp and CutMix. It comes after all ops on single
// images. Of several Mixers one is drawn for each batch, as torchvision's RandomChoice does.
//
// The batch is the global one, of all ranks, so that the result does not depend on the number of
// ranks.
type Mixer interface {
	Op
	// Mix draws how the images of a batch, h by w pixels each, are mixed.
	Mix(h, w int, r *random.Rand) Mixing
}

// apart splits ops into those on single images and the Mixers after them.
func apart(ops []Op, d formats.DType) (alone []Op, mixers []Mixer, err error) {
	for _, o := range ops {
		m, ok := o.(Mixer)
		switch _, blends := o.(MixUp); {
		case ok && blends && (d == formats.Uint8 || d == formats.Uint16):
			return nil, nil, fmt.Errorf("mixup needs batches of floats, not of %s", d)
		case ok:
			if err := checkOp(o, 0); err != nil {
				return nil, nil, err
			}
			mixers = append(mixers, m)
		case len(mixers) > 0:
			return nil, nil, fmt.Errorf("%s: it must come before %s, which mixes whole batches", o, mixers[0])
		default:
			alone = append(alone, o)
		}
	}
	return alone, mixers, nil
}

// Mixing is how two images are mixed.
type Mixing struct {
	// Share, from 0 to 1, is the weight of the image's own label and, if Cut is false, of its pixels;
	// the rest comes from the other image.
	Share float64
	// Region is copied from the other image if Cut is true. It may be empty.
	Region pixel.Rect
	Cut    bool
}

// MixUp blends images by a share drawn from a beta distribution ("mixup: Beyond Empirical Risk
// Minimization", 2018). It needs batches of floats.
type MixUp struct {
	// Alpha is both parameters of the beta distribution.
	Alpha float64
}

func (o MixUp) String() string { return "mixup:" + formatFloat(o.Alpha) }

// Check implements Op.
func (o MixUp) Check(int) error { return checkAlpha("mixup", o.Alpha) }

// AddTo implements Op; images are mixed when their batch is complete.
func (o MixUp) AddTo(*Steps, *random.Rand) {}

// Mix implements Mixer.
func (o MixUp) Mix(_, _ int, r *random.Rand) Mixing { return Mixing{Share: r.Beta(o.Alpha)} }

// CutMix replaces a region of each image by that of another ("CutMix: Regularization
// Strategy to Train Strong Classifiers", 2019).
type CutMix struct {
	// Alpha is both parameters of the beta distribution of the region's area.
	Alpha float64
}

func (o CutMix) String() string { return "cutmix:" + formatFloat(o.Alpha) }

// Check implements Op.
func (o CutMix) Check(int) error { return checkAlpha("cutmix", o.Alpha) }

// AddTo implements Op; images are mixed when their batch is complete.
func (o CutMix) AddTo(*Steps, *random.Rand) {}

// Mix implements Mixer. The region lies around a uniformly drawn point and is clipped at the edges.
func (o CutMix) Mix(h, w int, r *random.Rand) Mixing {
	share := r.Beta(o.Alpha)
	x, y := r.IntN(w), r.IntN(h)
	half := 0.5 * math.Sqrt(1-share)
	halfW, halfH := int(half*float64(w)), int(half*float64(h))
	x0, y0 := max(x-halfW, 0), max(y-halfH, 0)
	p := pixel.Rect{X: x0, Y: y0, W: min(x+halfW, w) - x0, H: min(y+halfH, h) - y0}
	return Mixing{Share: 1 - float64(p.W*p.H)/float64(w*h), Region: p, Cut: true}
}

func checkAlpha(name string, alpha float64) error {
	if !(alpha > 0 && alpha <= 1e6) {
		return fmt.Errorf("%s: alpha %v is not positive", name, alpha)
	}
	return nil
}
