package augment

import (
	"math"

	"github.com/dsconv/dsconv/preprocess"
)

// CenterCrop keeps the middle H by W pixels; an image that is smaller is put in the
// middle of a black one first: torchvision.transforms.CenterCrop.
type CenterCrop struct {
	H, W int
}

func (o CenterCrop) String() string { return "centercrop:" + formatSize(o.H, o.W) }

// Check implements Op.
func (o CenterCrop) Check(int) error { return checkSize("centercrop", o.H, o.W) }

// Plan implements Op.
func (o CenterCrop) Plan(p *Plan, _ *Rand) {
	if p.H < o.H || p.W < o.W {
		h, w := max(0, o.H-p.H), max(0, o.W-p.W)
		p.Pad(w/2, h/2, w-w/2, h-h/2, PadConstant, nil)
	}
	p.Crop(preprocess.Rect{X: middle(p.W, o.W), Y: middle(p.H, o.H), W: o.W, H: o.H})
}

func (CenterCrop) sizing() sizing { return fixesSize }

// middle is where part starts in whole, rounded half to even as Python does.
func middle(whole, part int) int {
	return int(math.RoundToEven(float64(whole-part) / 2))
}
