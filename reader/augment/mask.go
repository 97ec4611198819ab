package augment

import (
	"fmt"

	"github.com/dsconv/dsconv/preprocess"
)

// Mask makes dst what p makes of a mask of the whole image that p was Reset to: pixels move as
// the image's do, but each is taken as it is (nearest), what comes from outside is 0, and
// nothing changes colour or is erased. Narrow does not matter. dst becomes p.H by p.W with
// mask's channels and type, uint8 or uint16; it must be another image.
func (r *Runner) Mask(p *Plan, mask, dst *preprocess.Image) error {
	if mask.H != p.fromH || mask.W != p.fromW {
		return fmt.Errorf("the mask is %dx%d, its image %dx%d", mask.W, mask.H, p.fromW, p.fromH)
	}
	cur := whole(mask)
	for i := range p.steps {
		s := p.steps[i]
		in := cur.part(s.window, s.flips)
		if s.kind >= enhance {
			cur = in
			continue
		}
		s.filter, s.affine.Filter = preprocess.Nearest, preprocess.Nearest
		s.border.fill, s.affine.Fill = nil, nil
		m, err := r.move(&s, in, preprocess.Area{})
		if err != nil {
			return fmt.Errorf("mask: %w", err)
		}
		cur = whole(m)
	}
	dst.Reset(p.H, p.W, mask.C, mask.DType)
	cur.part(p.window, p.flips).place(dst, 0, 0)
	return nil
}
