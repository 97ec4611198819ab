package augment

import (
	"math"

	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/random"
)

// CenterCrop keeps the middle H by W pixels; an image that is smaller is put in the
// middle of a black one first: torchvision.transforms.CenterCrop.
type CenterCrop struct {
	H, W int
	// Floor rounds the place of the middle down, as Albumentations does, and not half to even.
	Floor bool
}

func (o CenterCrop) String() string {
	return "centercrop:" + formatSize(o.H, o.W) + formatFlag("floor", o.Floor)
}

// Check implements Op.
func (o CenterCrop) Check(int) error { return checkSize("centercrop", o.H, o.W) }

// AddTo implements Op.
func (o CenterCrop) AddTo(s *Steps, _ *random.Rand) {
	if s.h < o.H || s.w < o.W {
		h, w := max(0, o.H-s.h), max(0, o.W-s.w)
		s.Pad(w/2, h/2, w-w/2, h-h/2, PadConstant, nil)
	}
	r := pixel.Rect{X: middle(s.w, o.W), Y: middle(s.h, o.H), W: o.W, H: o.H}
	if o.Floor {
		r.X, r.Y = (s.w-o.W)/2, (s.h-o.H)/2
	}
	s.Crop(r)
}

func (CenterCrop) sizing() sizing { return fixesSize }

// middle is where part starts in whole, rounded half to even as Python does.
func middle(whole, part int) int {
	return int(math.RoundToEven(float64(whole-part) / 2))
}
