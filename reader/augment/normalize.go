package augment

import (
	"fmt"
	"math"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader/random"
)

// Normalize subtracts Mean from each channel and divides by Std, after the pixels were
// scaled to [0, 1]: torchvision.transforms.Normalize behind ToTensor. One element stands
// for all channels. Only RandomErasing may come after it; it needs batches of floats.
type Normalize struct {
	Mean, Std []float64
}

// ImageNet normalises by the mean and standard deviation of ImageNet's training images,
// as torchvision's pretrained models expect.
var ImageNet = Normalize{
	Mean: []float64{0.485, 0.456, 0.406},
	Std:  []float64{0.229, 0.224, 0.225},
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
