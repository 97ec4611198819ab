package augment

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dsconv/dsconv/formats"
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
