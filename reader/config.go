package reader

import (
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/parallel"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/order"
)

// Config says which batches a Loader makes. Only BatchSize has no default.
type Config struct {
	BatchSize int
	// Workers is the number of goroutines that read and decode; 0 is the number of cores, by the
	// cgroup's limit. They are mostly in C: see the package's section on speed.
	Workers int
	// Prefetch is how many batches are made ahead of the loop; 0 is 2.
	Prefetch int

	// Shuffle draws another order for each epoch; otherwise samples come in order of key.
	Shuffle bool
	// Order, if it is not the zero value, is another order: see package order.
	Order order.Spec
	// Weight of a sample, by what the dataset knows of it, for the order Weighted.
	Weight func(formats.Info) float64
	// Seed decides the order and what augmentations draw.
	Seed uint64
	// Tail says what becomes of the samples that do not fill a batch on every rank; order.Pad
	// is the default.
	Tail order.Tail
	// Rank, from 0, of WorldSize processes that share an epoch; WorldSize 0 is 1.
	Rank, WorldSize int

	// Split restricts the samples to those of one split; "" is all.
	Split string
	// Select restricts them further, to those for which it is true; nil is all.
	Select func(formats.Info) bool
	// Fields names the further fields that batches have; see Field.
	Fields []string
	// LabelDType is the type of the labels: formats.Int64, the default, Uint8 or Uint16. Labels
	// that are numbers to predict are formats.Float32, and nothing else.
	LabelDType formats.DType
	// LabelPadding leaves the samples that are repeated as padding their labels, so that a loop
	// that knows of no padding learns from them; their indices are -1 all the same.
	LabelPadding bool
	// OnError says what becomes of bad samples; Fail is the default.
	OnError OnError
	// Cache keeps samples in memory.
	Cache Cache
	// AnySize leaves each image the size that the transforms give it. There are no batches
	// then: Pick is how samples are read.
	AnySize bool
	// Transforms make each image the size of the batch's entries; see package augment.
	Transforms []augment.Op
	// DType of the batches: formats.Uint8, the default, Uint16, Float32, Float16 or BFloat16.
	DType formats.DType
	// Layout of the batches: augment.NHWC, the default, or augment.NCHW.
	Layout augment.Layout
	// Color that images are decoded to; preprocess.ColorRGB if empty. With DType Uint16 images of
	// 16 bits a channel keep them; else they become 8 as in Pillow, unless Color is ColorKeep.
	Color preprocess.Color
	// ApplyOrientation turns images as their EXIF orientation says; ImageFolder and Pillow
	// do not.
	ApplyOrientation bool
	// FastDecode decodes JPEGs as preprocess.DecodeOptions.Fast does, smaller by 2, 4 or 8 where
	// the first transform makes them smaller still: pixels are near Pillow's and no more.
	FastDecode bool
	// MaxPixels is the largest number of pixels that an image may have, and bounds the memory
	// that it may take; 0 is preprocess.DefaultMaxPixels. Larger images are bad samples.
	MaxPixels int
}

// deep reports whether images of 16 bits a channel keep them in any color.
func (c *Config) deep() bool { return c.DType == formats.Uint16 }

// withDefaults fills in what is left out and checks the rest.
func (c Config) withDefaults() (Config, error) {
	setDefault(&c.Workers, parallel.Cores())
	setDefault(&c.Prefetch, 2)
	setDefault(&c.WorldSize, 1)
	setDefault(&c.DType, formats.Uint8)
	setDefault(&c.Layout, augment.NHWC)
	setDefault(&c.Color, preprocess.ColorRGB)
	setDefault(&c.OnError, Fail)
	if c.Order == (order.Spec{}) && c.Shuffle {
		c.Order = order.Spec{Kind: order.Full}
	}
	switch {
	case c.BatchSize <= 0:
		return c, fmt.Errorf("batch size %d: it must be positive", c.BatchSize)
	case c.Workers < 0:
		return c, fmt.Errorf("%d workers: the number must be positive", c.Workers)
	case c.Prefetch < 0:
		return c, fmt.Errorf("prefetch of %d batches: the number must be positive", c.Prefetch)
	case c.WorldSize < 0 || c.Rank < 0 || c.Rank >= c.WorldSize:
		return c, fmt.Errorf("rank %d of %d: ranks go from 0 to the world size less 1", c.Rank, c.WorldSize)
	case c.MaxPixels < 0:
		return c, fmt.Errorf("at most %d pixels: the number must be positive", c.MaxPixels)
	case c.FastDecode && c.Cache.Kind == Decoded:
		return c, errors.New("fast decode with a cache of decoded images: their pixels would depend on what is in the cache")
	case c.FastDecode && !preprocess.CanScale:
		return c, fmt.Errorf("%w: fast decode: this build lacks libjpeg-turbo (cgo)", preprocess.ErrUnsupported)
	}
	_, err := preprocess.ParseColor(string(c.Color))
	if err == nil {
		_, err = ParseOnError(string(c.OnError))
	}
	if err == nil {
		err = c.Cache.check()
	}
	return c, err
}

func setDefault[T comparable](v *T, value T) {
	var zero T
	if *v == zero {
		*v = value
	}
}
