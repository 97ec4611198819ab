// Package augmented makes augmented copies of samples while they are packed, by the ops of a Loader: the
// pixels are those that a Loader with the same ops and seed draws for (epoch, sample) of the packed dataset, where the
// epoch is the number of the copy.
package augmented

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
)

// Keys of a dataset's recipe.
const (
	opsKey  = "augment"
	seedKey = "augment-seed"
)

// Copies is how copies are made. It is safe for concurrent use.
type Copies struct {
	ops  augment.Ops
	seed uint64
}

// New returns copies by ops, drawn from seed, or an error about ops that cannot be carried out before images are
// stored.
func New(ops augment.Ops, seed uint64) (*Copies, error) {
	if len(ops) == 0 {
		return nil, errors.New("augment: there are no operations: give some, such as rrc:224,flip")
	}
	for _, o := range ops {
		if n, ok := o.(augment.Normalize); ok {
			return nil, fmt.Errorf("augment: %s makes floats, and images are stored as integers: leave it to the Loader", n)
		}
	}
	for _, o := range ops {
		switch o := o.(type) {
		case augment.MixUp:
			return nil, fmt.Errorf("augment: %s mixes the images of a batch, and a copy is made of one image: leave it to the Loader", o)
		case augment.RandomErasing:
			if o.Random {
				return nil, fmt.Errorf("augment: %s makes floats, and images are stored as integers: leave it to the Loader", o)
			}
		}
	}
	p, err := augment.CompileEach(ops, 3, formats.Uint8, pixel.NHWC)
	if err != nil {
		return nil, fmt.Errorf("augment: %w", err)
	}
	if m := p.Mixers(); len(m) > 0 {
		return nil, fmt.Errorf("augment: %s mixes the images of a batch, and a copy is made of one image: leave it to the Loader", m[0])
	}
	return &Copies{ops, seed}, nil
}

// Recipe is what decides the copies' pixels.
func (c *Copies) Recipe() map[string]string {
	return map[string]string{opsKey: c.ops.String(), seedKey: strconv.FormatUint(c.seed, 10)}
}

// Shape is the height and width of copies of images of h by w pixels with channels; h and w are 0 if the images differ
// in size. ok is false if the copies may too.
func (c *Copies) Shape(h, w, channels int) (copyH, copyW int, ok bool) {
	p, err := augment.Compile(c.ops, h, w, channels, formats.Uint8, pixel.NHWC)
	if err != nil {
		return 0, 0, false
	}
	shape := p.Shape()
	return shape[0], shape[1], true
}
