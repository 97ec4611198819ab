package reader

import (
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
)

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
