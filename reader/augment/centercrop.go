package augment

import (
	"github.com/dsconv/dsconv/internal/image/geometry"
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
	if s.path.H < o.H || s.path.W < o.W {
		h, w := max(0, o.H-s.path.H), max(0, o.W-s.path.W)
		s.Pad(w/2, h/2, w-w/2, h-h/2, PadConstant, nil)
	}
	r := pixel.Rect{X: geometry.Middle(s.path.W, o.W), Y: geometry.Middle(s.path.H, o.H), W: o.W, H: o.H}
	if o.Floor {
		r.X, r.Y = (s.path.W-o.W)/2, (s.path.H-o.H)/2
	}
	s.Crop(r)
}

func (CenterCrop) sizing() sizing { return fixesSize }
