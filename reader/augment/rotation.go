package augment

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/random"
)

// RandomRotation turns the image by an angle drawn evenly from Low to High degrees, positive
// counter-clockwise: torchvision.transforms.RandomRotation.
type RandomRotation struct {
	Low, High float64
	// Filter is nearest, bilinear or bicubic; nearest if empty.
	Filter pixel.Filter
	// Expand makes the image large enough to hold all of the turned one.
	Expand bool
	// Center is the pivot, x and y from the upper left corner; nil is the middle.
	Center []float64
	// Fill is for what lies outside of the image, in the image's own units: one value for all
	// channels or one for each; nil is 0.
	Fill []float64
}

func (o RandomRotation) String() string {
	degrees := formatFloats([]float64{o.Low, o.High})
	if o.Low == -o.High {
		degrees = formatFloat(o.High)
	}
	return "rotate:" + degrees + formatFilter(o.Filter, pixel.Nearest) + formatFlag("expand", o.Expand) +
		formatValues("center", o.Center) + formatValues("fill", o.Fill)
}

func (o RandomRotation) filter() pixel.Filter { return cmp.Or(o.Filter, pixel.Nearest) }

// Check implements Op.
func (o RandomRotation) Check(channels int) error {
	if !(o.Low <= o.High && math.Abs(o.Low) <= 1e6 && math.Abs(o.High) <= 1e6) {
		return fmt.Errorf("rotate: degrees %v to %v: wanted low <= high", o.Low, o.High)
	}
	if o.Center != nil && len(o.Center) != 2 {
		return fmt.Errorf("rotate: center %v: wanted x and y", o.Center)
	}
	for _, v := range o.Center {
		if !(math.Abs(v) <= 1e6) {
			return fmt.Errorf("rotate: center %v is too far from the image", o.Center)
		}
	}
	a := resample.Affine{Filter: o.filter(), Fill: o.Fill}
	if err := a.Check(channels); err != nil {
		return fmt.Errorf("rotate: %w", err)
	}
	return nil
}

// AddTo implements Op.
func (o RandomRotation) AddTo(s *Steps, r *random.Rand) {
	s.Rotate(r.Uniform(o.Low, o.High), o.filter(), o.Expand, o.Center, o.Fill)
}

func (o RandomRotation) sizing() sizing {
	if o.Expand && o.Low != o.High {
		return variesSize
	}
	return keepsSize
}
