package augment

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/dsconv/dsconv/internal/image/geometry"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/random"
)

// Resize resamples the whole image, as torchvision.transforms.Resize on a PIL image does:
// either its shorter side to Shorter, the other in proportion and rounded down, or exactly
// to H by W. Nothing is done to an image that has that size.
type Resize struct {
	Shorter int
	H, W    int
	// Max bounds the longer side, if not 0: where Shorter would make it longer, the image is
	// made smaller. It must be more than Shorter.
	Max int
	// Filter is bilinear with antialias if empty.
	Filter pixel.Filter
}

func (o Resize) String() string {
	size := fmt.Sprintf("%dx%d", o.W, o.H)
	if o.Shorter != 0 {
		size = strconv.Itoa(o.Shorter) + formatOption("max", o.Max, 0, strconv.Itoa)
	}
	return "resize:" + size + formatFilter(o.Filter, pixel.Bilinear)
}

// Check implements Op.
func (o Resize) Check(int) error {
	if err := checkFilter("resize", o.Filter); err != nil {
		return err
	}
	if o.Max < 0 || o.Max > maxSide {
		return fmt.Errorf("resize: max=%d: wanted at most %d", o.Max, maxSide)
	}
	if o.Max != 0 && o.Max <= o.Shorter || o.Max != 0 && o.Shorter == 0 {
		return fmt.Errorf("resize: max=%d: the shorter side is %d, but must be at least 1 and less than max", o.Max, o.Shorter)
	}
	if o.Shorter == 0 {
		return checkSize("resize", o.H, o.W)
	}
	if o.H != 0 || o.W != 0 {
		return errors.New("resize: either the shorter side or width and height, not both")
	}
	return checkSize("resize", o.Shorter, o.Shorter)
}

// AddTo implements Op.
func (o Resize) AddTo(s *Steps, _ *random.Rand) {
	h, w := o.H, o.W
	switch {
	case o.Shorter == 0:
	case s.path.W <= s.path.H:
		w, h = o.sides(s.path.W, s.path.H)
	default:
		h, w = o.sides(s.path.H, s.path.W)
	}
	s.Resize(h, w, cmp.Or(o.Filter, pixel.Bilinear))
}

// sides gives what a shorter and a longer side become.
func (o Resize) sides(short, long int) (int, int) {
	s, l := o.Shorter, geometry.Scaled(o.Shorter, short, long)
	if o.Max != 0 && l > o.Max {
		s, l = geometry.Scaled(o.Max, l, s), o.Max
	}
	return s, l
}

func (o Resize) sizing() sizing {
	if o.Shorter == 0 {
		return fixesSize
	}
	return followsSize
}

var filters = []pixel.Filter{
	pixel.Nearest, pixel.Box, pixel.Bilinear,
	pixel.Hamming, pixel.Bicubic, pixel.Lanczos,
}

func checkFilter(name string, f pixel.Filter) error {
	if f != "" && !slices.Contains(filters, f) {
		return fmt.Errorf("%s: unknown filter %q; known: %v", name, f, filters)
	}
	return nil
}

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

// RandomHorizontalFlip mirrors the image left to right with probability P:
// torchvision.transforms.RandomHorizontalFlip.
type RandomHorizontalFlip struct{ P float64 }

func (o RandomHorizontalFlip) String() string { return formatChance("flip", o.P) }

// Check implements Op.
func (o RandomHorizontalFlip) Check(int) error { return checkChance("flip", o.P) }

// AddTo implements Op.
func (o RandomHorizontalFlip) AddTo(s *Steps, r *random.Rand) {
	if r.Float64() < o.P {
		s.Flip()
	}
}

// RandomVerticalFlip mirrors the image top to bottom with probability P:
// torchvision.transforms.RandomVerticalFlip.
type RandomVerticalFlip struct{ P float64 }

func (o RandomVerticalFlip) String() string { return formatChance("vflip", o.P) }

// Check implements Op.
func (o RandomVerticalFlip) Check(int) error { return checkChance("vflip", o.P) }

// AddTo implements Op.
func (o RandomVerticalFlip) AddTo(s *Steps, r *random.Rand) {
	if r.Float64() < o.P {
		s.FlipV()
	}
}
