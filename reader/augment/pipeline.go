package augment

import (
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/random"
)

// Pipeline is a checked list of ops and the batch entry that they end in. It is safe for
// concurrent use.
type Pipeline struct {
	ops     []Op
	mixers  []Mixer
	h, w, c int // h and w are 0 where each image has a size of its own
	dtype   formats.DType
	layout  pixel.Layout
	store   *resample.TensorSpec
}

// Compile checks ops for images of h by w pixels with c channels; h and w are 0 if the
// images differ in size, which is ErrSize unless the ops end in one size. dtype is
// formats.Uint8 (the pixels as they are) or formats.Float32, Float16 or BFloat16 (scaled to
// [0, 1], and normalised where ops say so).
func Compile(ops []Op, h, w, c int, dtype formats.DType, layout pixel.Layout) (*Pipeline, error) {
	p, err := CompileEach(ops, c, dtype, layout)
	if err != nil {
		return nil, err
	}
	if h < 0 || w < 0 || h > maxResult || w > maxResult {
		return nil, fmt.Errorf("images of %dx%d pixels: wanted 1 to %d, or 0 if they differ in size", w, h, maxResult)
	}
	size := fmt.Sprintf("an image of %dx%d", w, h)
	if h == 0 || w == 0 {
		if !FixesSize(ops) {
			return nil, ErrSize
		}
		h, w = maxSide, maxSide
		size = fmt.Sprintf("an image of the largest size, %dx%d", w, h)
	}
	if sizingOfAll(ops) == variesSize {
		return nil, ErrSize
	}
	var steps Steps
	p.Draw(&steps, h, w, new(random.Rand))
	if steps.err != nil {
		return nil, fmt.Errorf("%s: %w", size, steps.err)
	}
	p.h, p.w = steps.path.H, steps.path.W
	return p, nil
}

// CompileEach is Compile for images each of which ends in a size of its own.
func CompileEach(ops []Op, c int, dtype formats.DType, layout pixel.Layout) (*Pipeline, error) {
	ops, err := plainOps(ops)
	if err != nil {
		return nil, err
	}
	alone, mixers, err := apart(ops, dtype)
	if err != nil {
		return nil, err
	}
	p := &Pipeline{ops: alone, mixers: mixers, c: c, dtype: dtype, layout: layout}
	norm, err := p.check()
	if err != nil {
		return nil, err
	}
	p.store, err = newStore(p, norm)
	return p, err
}

// stored is an Op that acts on what is in the batch.
type stored interface {
	// checkBatch reports batches of a type that the op cannot act on.
	checkBatch(d formats.DType) error
}

// check gives the normalisation that the ops end in, nil if there is none.
func (p *Pipeline) check() (*Normalize, error) {
	var norm *Normalize
	var last Op
	for _, o := range p.ops {
		if err := checkOp(o, p.c); err != nil {
			return nil, err
		}
		if _, erases := o.(RandomErasing); last != nil && !erases {
			return nil, fmt.Errorf("%s comes after %s, which must be last", o, last)
		}
		s, ok := o.(stored)
		if !ok {
			continue
		}
		if err := s.checkBatch(p.dtype); err != nil {
			return nil, err
		}
		last = o
		if n, ok := o.(Normalize); ok {
			norm = &n
		}
	}
	return norm, nil
}

// Mixers are the ops that mix a batch. For each batch one of them is drawn.
func (p *Pipeline) Mixers() []Mixer { return p.mixers }

// Shape is H, W, C of an entry, whatever the layout.
func (p *Pipeline) Shape() [3]int { return [3]int{p.h, p.w, p.c} }

// Draw makes steps those of the ops for an image of h by w pixels, drawing from r.
func (p *Pipeline) Draw(steps *Steps, h, w int, r *random.Rand) {
	steps.Reset(h, w, p.c)
	if h < 1 || w < 1 {
		steps.err = fmt.Errorf("an image of %dx%d has no pixels", w, h)
	}
	for _, o := range p.ops {
		if steps.err == nil {
			add(o, steps, r)
		}
	}
}

// add adds o to s. An error of s, which a panic becomes too, names o.
func add(o Op, s *Steps, r *random.Rand) {
	err := called(o, func() error {
		o.AddTo(s, r)
		return s.err
	})
	if err != nil {
		s.err = err
	}
}

// Fits reports an image that the pipeline cannot make a batch entry of, by its own shape
// and the one that its steps end in.
func (p *Pipeline) Fits(m *pixel.Image, steps *Steps) error {
	switch {
	case steps.err != nil:
		return steps.err
	case m.C != p.c:
		return fmt.Errorf("it has %d channels, the batch %d: choose the color rgb or gray", m.C, p.c)
	case m.DType == formats.Uint16 && p.dtype == formats.Uint8:
		return errors.New("it has 16 bits per channel: use uint16, float32, float16 or bfloat16 batches")
	case m.DType != formats.Uint8 && m.DType != formats.Uint16:
		return fmt.Errorf("its elements are %s: only uint8 and uint16 can be transformed", m.DType)
	case p.h > 0 && (steps.path.H != p.h || steps.path.W != p.w):
		return fmt.Errorf("it becomes %dx%d, the batch holds %dx%d: %w", steps.path.W, steps.path.H, p.w, p.h, ErrSize)
	}
	return nil
}

// Store is how images become entries of a batch: what the Target of a Runner needs.
func (p *Pipeline) Store() *resample.TensorSpec { return p.store }

// newStore normalises by n, if ops have one.
func newStore(p *Pipeline, n *Normalize) (*resample.TensorSpec, error) {
	if n == nil {
		return resample.NewTensorSpec(p.c, p.dtype, p.layout, nil, nil)
	}
	mean, std := make([]float32, p.c), make([]float32, p.c)
	for k := range p.c {
		mean[k], std[k] = n.channel(k)
	}
	return resample.NewTensorSpec(p.c, p.dtype, p.layout, mean, std)
}
