package reader

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
)

// Rest is what a Loader left to do on the images of a view of a batch. In this order: the images are mirrored, their
// values replaced by those of FinalFrame, brought into its layout, erased, and mixed.
type Rest struct {
	// Flips has a number for each image: bit 0 mirrors it left to right, bit 1 top to bottom. If the batch is mixed
	// there is one more, of Batch.Previous.
	Flips []uint8
	// Erasures are regions that are overwritten, in this order, by values that are rounded to the images' type.
	Erasures []Erasure
	// Mixing, unless nil, is how each image is mixed with the one before it as that was before it was mixed, and the
	// first with Batch.Previous. The products and the sum of a mixture are rounded to the images' type. Labels
	// are mixed already.
	Mixing *augment.Mixing
}

// Erasure overwrites a region of one of a batch's images.
type Erasure struct {
	Image int // its index; Batch.N is Batch.Previous
	augment.Erasure
}

// Previous is the image that the first one of the batch is mixed with, as ImageBytes has them; nil if Rest does not
// mix. Of images on a device it lies there, behind the others. It panics if the batch is no longer valid.
func (b *Batch) Previous() []byte {
	images, _ := b.memory("Previous")
	if b.behind == 0 || images == nil {
		return nil
	}
	return images[: len(images)+b.behind : len(images)+b.behind][len(images):]
}

// left is what is left to do on an image.
type left struct {
	flips    uint8
	erasures []augment.Erasure
}

// resetLeft gives b what is left of n entries. What the first ones held stays.
func (f *frame) resetLeft(b *Batch, n int) {
	b.Rest, b.behind = nil, 0
	if f.leaves == augment.LeaveNothing {
		b.left = nil
		return
	}
	for len(b.left) < n*f.views() {
		b.left = append(b.left, left{})
	}
}

// leave notes what is left to do on view k of an entry.
func (e *entry) leave(k int, p *augment.Pipeline, s *augment.Steps) {
	f := e.frame
	l := &e.batch.left[e.at*f.views()+k]
	l.flips = 0
	if f.leaves == augment.LeaveFlips {
		h, v := s.Flips()
		if h {
			l.flips |= 1
		}
		if v {
			l.flips |= 2
		}
	}
	l.erasures = p.Erasures(l.erasures[:0], s)
}

// moveLeft moves what is left of entry from of src to entry to of dst.
func (f *frame) moveLeft(dst *Batch, to int, src *Batch, from int) {
	if f.leaves == augment.LeaveNothing {
		return
	}
	for k := range f.views() {
		a, b := &dst.left[to*f.views()+k], &src.left[from*f.views()+k]
		*a, *b = *b, *a
	}
}

// copyLeft copies what is left of entry from of src to entry to of dst.
func (f *frame) copyLeft(dst *Batch, to int, src *Batch, from int) {
	if f.leaves == augment.LeaveNothing {
		return
	}
	for k := range f.views() {
		from := &src.left[from*f.views()+k]
		copied := left{from.flips, slices.Clone(from.erasures)}
		for i := range copied.erasures {
			copied.erasures[i].Values = slices.Clone(copied.erasures[i].Values)
		}
		dst.left[to*f.views()+k] = copied
	}
}

// views is the number of views.
func (f *frame) views() int { return 1 + len(f.others) }

// joinLeft makes b.Rest of what is left of b's entries, and of that of previous where b is mixed with it.
func (f *frame) joinLeft(b, previous *Batch, how *augment.Mixing) {
	if f.leaves == augment.LeaveNothing {
		return
	}
	b.Rest = make([]Rest, f.views())
	for k := range b.Rest {
		r := &b.Rest[k]
		add := func(i int, l *left) {
			r.Flips = append(r.Flips, l.flips)
			for _, e := range l.erasures {
				r.Erasures = append(r.Erasures, Erasure{i, e})
			}
		}
		for i := range b.N {
			add(i, &b.left[i*f.views()+k])
		}
		if how != nil {
			r.Mixing = how
			add(b.N, &previous.left[k])
		}
	}
}

// copyRest gives b a Rest of its own.
func (b *Batch) copyRest() {
	b.left = nil
	b.Rest = slices.Clone(b.Rest)
	for k := range b.Rest {
		r := &b.Rest[k]
		r.Flips, r.Erasures = slices.Clone(r.Flips), slices.Clone(r.Erasures)
		for i := range r.Erasures {
			r.Erasures[i].Values = slices.Clone(r.Erasures[i].Values)
		}
	}
}

// checkDeferred reports what cannot be deferred: bytes are all that a consumer is given.
func (c *Config) checkDeferred() error {
	switch {
	case !c.Deferred:
		return nil
	case c.DType == formats.Uint16:
		return fmt.Errorf("deferred batches are uint8, and cannot become %s: choose another type, or leave out deferred", c.DType)
	case c.Color == pixel.ColorKeep:
		return fmt.Errorf("deferred batches are uint8, and the color %s keeps 16 bits per channel: choose %s or %s", c.Color, pixel.ColorRGB, pixel.ColorGray)
	case c.AnySize:
		return errors.New("deferred with images of any size: there are no batches to finish; leave out deferred")
	}
	return nil
}

// FinalFrame is what the images of a view become once Batch.Rest is carried out.
type FinalFrame struct {
	DType  formats.DType
	Layout pixel.Layout
	Image  []int // shape of one, in that layout
	// Values are the elements that the values 0 to 255 of channel 0 become, then those of channel 1 and so on: their
	// bits, the low ones of each number. nil means that values have the type DType already.
	Values []uint32
	// Previous tells that batches have a Batch.Previous.
	Previous bool
}

// finalFrames are what the images of the batches become, of all views; nil if they are that already.
func (l *Loader) finalFrames() (final []FinalFrame) {
	if l.frame.leaves == augment.LeaveNothing {
		return nil
	}
	one := &l.single
	for k := range l.views {
		shape := one.batchShape(1, one.viewShape(k))
		f := FinalFrame{DType: one.dtype, Layout: one.layout, Image: shape[1:], Previous: l.frame.previous > 0}
		if l.frame.leaves == augment.LeaveFlips {
			f.Values = l.views[k].pipeline.Store().Table()
		}
		final = append(final, f)
	}
	return final
}

// deferTo makes the Loader's batches leave what l says to their consumer.
func (l *Loader) deferTo(leaves augment.Leaving) error {
	f := &l.frame
	f.leaves = leaves
	if l.mixer != nil {
		f.previous = 1
	}
	if leaves != augment.LeaveFlips {
		return nil
	}
	f.dtype, f.layout = formats.Uint8, pixel.NHWC
	f.others = append([]otherFrame(nil), f.others...)
	f.placeViews(l.config.BatchSize)
	for k := range l.views {
		spec, err := resample.NewTensorSpec(f.viewShape(k)[2], f.dtype, f.layout, nil, nil)
		if err != nil {
			return l.config.ofView(k, err)
		}
		l.views[k].pixels = spec
	}
	return nil
}
