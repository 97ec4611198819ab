package augment

import (
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess"
)

// Pipeline is a checked list of ops and the batch entry that they end in. It is safe for
// concurrent use.
type Pipeline struct {
	ops     []Op
	h, w, c int
	dtype   formats.DType
	layout  Layout
	store   *preprocess.Store
}

// Compile checks ops for images of h by w pixels with c channels; h and w are 0 if the
// images differ in size, which is ErrSize unless the ops end in one size. dtype is
// formats.Uint8 (the pixels as they are) or formats.Float32, Float16 or BFloat16 (scaled to
// [0, 1], and normalised where ops say so).
func Compile(ops []Op, h, w, c int, dtype formats.DType, layout Layout) (*Pipeline, error) {
	p := &Pipeline{ops: ops, c: c, dtype: dtype, layout: layout}
	norm, err := p.check()
	if err != nil {
		return nil, err
	}
	if p.store, err = newStore(p, norm); err != nil {
		return nil, err
	}
	if h == 0 || w == 0 {
		if !FixesSize(ops) {
			return nil, ErrSize
		}
		h, w = 1, 1
	}
	var plan Plan
	p.Plan(&plan, h, w, new(Rand))
	p.h, p.w = plan.H, plan.W
	return p, nil
}

// check gives the normalisation that the ops end in, nil if there is none.
func (p *Pipeline) check() (*Normalize, error) {
	for i, o := range p.ops {
		if err := o.Check(p.c); err != nil {
			return nil, err
		}
		n, ok := o.(Normalize)
		if !ok {
			continue
		}
		if i != len(p.ops)-1 {
			return nil, errors.New("normalize must be the last transform")
		}
		if p.dtype == formats.Uint8 {
			return nil, fmt.Errorf("normalize needs batches of %s, %s or %s, not of %s",
				formats.Float32, formats.Float16, formats.BFloat16, p.dtype)
		}
		return &n, nil
	}
	return nil, nil //nolint:nilnil // no normalisation is no error
}

// Shape is H, W, C of an entry, whatever the layout.
func (p *Pipeline) Shape() [3]int { return [3]int{p.h, p.w, p.c} }

// Plan plans the ops for an image of h by w pixels, drawing from r.
func (p *Pipeline) Plan(plan *Plan, h, w int, r *Rand) {
	plan.Reset(h, w, p.c)
	for _, o := range p.ops {
		o.Plan(plan, r)
	}
}

// Fits reports an image that the pipeline cannot make a batch entry of, by its own shape
// and the one its plan ends in.
func (p *Pipeline) Fits(m *preprocess.Image, plan *Plan) error {
	switch {
	case m.C != p.c:
		return fmt.Errorf("it has %d channels, the batch %d: choose the color rgb or gray", m.C, p.c)
	case m.DType == formats.Uint16 && p.dtype == formats.Uint8:
		return errors.New("it has 16 bits a channel: use float32, float16 or bfloat16 batches")
	case m.DType != formats.Uint8 && m.DType != formats.Uint16:
		return fmt.Errorf("its elements are %s: only uint8 and uint16 can be transformed", m.DType)
	case plan.H != p.h || plan.W != p.w:
		return fmt.Errorf("it becomes %dx%d, the batch holds %dx%d: %w", plan.W, plan.H, p.w, p.h, ErrSize)
	}
	return nil
}
