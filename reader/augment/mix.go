package augment

import (
	"fmt"
	"math"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess"
)

// Mixer is an Op that makes each image of a batch a mixture with the one before it, the first
// with the last, and its label likewise: torchvision.transforms.v2's MixUp and CutMix. It comes
// after all that is done to images by themselves. Of several, one is drawn for each batch, as
// torchvision's RandomChoice does.
//
// The batch is the global one, of all ranks, so that what is drawn and what is mixed does not
// depend on how many ranks there are.
type Mixer interface {
	Op
	// Mix draws how the images of a batch, h by w pixels each, are mixed.
	Mix(h, w int, r *Rand) Mixture
}

// apart parts ops into those of images by themselves and the Mixers behind them.
func apart(ops []Op, d formats.DType) (alone []Op, mixers []Mixer, err error) {
	for _, o := range ops {
		m, ok := o.(Mixer)
		switch _, blends := o.(MixUp); {
		case ok && blends && (d == formats.Uint8 || d == formats.Uint16):
			return nil, nil, fmt.Errorf("mixup needs batches of floats, not of %s", d)
		case ok:
			if err := o.Check(0); err != nil {
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

// Mixture says how much of each image and label stays; the rest is the other's.
type Mixture struct {
	// Share, from 0 to 1, of the label that stays, and of each pixel where Part is zero.
	Share float64
	// Part is what all comes from the other image; zero where all pixels are blended.
	Part preprocess.Rect
	// Cut says that a part is exchanged, which may be empty, and not blended.
	Cut bool
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

// Plan implements Op; images are mixed when their batch is whole.
func (o MixUp) Plan(*Plan, *Rand) {}

// Mix implements Mixer.
func (o MixUp) Mix(_, _ int, r *Rand) Mixture { return Mixture{Share: r.Beta(o.Alpha)} }

// CutMix puts a part of one image in the place of the other's ("CutMix: Regularization
// Strategy to Train Strong Classifiers", 2019).
type CutMix struct {
	// Alpha is both parameters of the beta distribution of the part's area.
	Alpha float64
}

func (o CutMix) String() string { return "cutmix:" + formatFloat(o.Alpha) }

// Check implements Op.
func (o CutMix) Check(int) error { return checkAlpha("cutmix", o.Alpha) }

// Plan implements Op; images are mixed when their batch is whole.
func (o CutMix) Plan(*Plan, *Rand) {}

// Mix implements Mixer. The part lies around a point drawn evenly and is cut off at the edges.
func (o CutMix) Mix(h, w int, r *Rand) Mixture {
	share := r.Beta(o.Alpha)
	x, y := r.IntN(w), r.IntN(h)
	half := 0.5 * math.Sqrt(1-share)
	halfW, halfH := int(half*float64(w)), int(half*float64(h))
	x0, y0 := max(x-halfW, 0), max(y-halfH, 0)
	p := preprocess.Rect{X: x0, Y: y0, W: min(x+halfW, w) - x0, H: min(y+halfH, h) - y0}
	return Mixture{Share: 1 - float64(p.W*p.H)/float64(w*h), Part: p, Cut: true}
}

func checkAlpha(name string, alpha float64) error {
	if !(alpha > 0 && alpha <= 1e6) {
		return fmt.Errorf("%s: alpha %v is not positive", name, alpha)
	}
	return nil
}

func parseMixer(op func(alpha float64) Op) parser {
	return func(args []string) ([]Op, error) {
		if len(args) != 1 {
			return nil, errArguments
		}
		alpha, err := parseFloat(args[0])
		return []Op{op(alpha)}, err
	}
}
