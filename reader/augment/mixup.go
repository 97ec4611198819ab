package augment

import (
	"fmt"
	"math"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/random"
)

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
