package reader

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/parallel"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/order"
)

// DefaultPrefetch is Config.Prefetch where that is 0.
const DefaultPrefetch = 2

// Config describes a Loader. It is the one description there is: the flags of dsconv bench and
// train set it, Python sends it as JSON, and a bench's report contains it. The zero value of a field
// is its default, which WithDefaults fills in. Only BatchSize has no default.
type Config struct {
	BatchSize int `json:"batch"`
	// Workers is the number of goroutines that read and decode; 0 is the number of cores, by the
	// cgroup's limit. They are mostly in C: see the package's section on speed.
	Workers int `json:"workers"`
	// Prefetch is how many batches are made ahead of the loop; 0 is DefaultPrefetch.
	Prefetch int `json:"prefetch,omitempty"`

	// Shuffle draws another order for each epoch; otherwise samples come in order of key.
	Shuffle bool `json:"-"`
	// Order, if it is not the zero value, is another order: see package order.
	Order order.Spec `json:"order"`
	// Weight of a sample, by what the dataset knows of it, for the order Weighted.
	Weight func(formats.Info) float64 `json:"-"`
	// Seed decides the order and what augmentations draw.
	Seed uint64 `json:"seed"`
	// Tail says what becomes of the samples that do not fill a batch on every rank; order.Pad
	// is the default.
	Tail order.Tail `json:"tail,omitempty"`
	// Rank, from 0, of WorldSize processes that share an epoch; WorldSize 0 is 1.
	Rank      int `json:"rank,omitempty"`
	WorldSize int `json:"world_size,omitempty"`

	// Split restricts the samples to those of one split; "" is all.
	Split string `json:"split,omitempty"`
	// Select restricts them further, to those for which it is true; nil is all.
	Select func(formats.Info) bool `json:"-"`
	// Fields names the further fields that batches have; see Field.
	Fields []string `json:"fields,omitempty"`
	// LabelDType is the type of the labels: formats.Int64, the default, Uint8 or Uint16. Labels
	// that are numbers to predict are formats.Float32, and nothing else.
	LabelDType formats.DType `json:"label_dtype,omitempty"`
	// OnError says what becomes of bad samples; Fail is the default.
	OnError OnError `json:"on_error,omitempty"`
	// Cache keeps samples in memory.
	Cache Cache `json:"cache,omitzero"`
	// AnySize leaves each image the size that the transforms give it. There are no batches
	// then: Pick is how samples are read.
	AnySize bool `json:"any_size,omitempty"`
	// Transforms make each image the size of the batch's entries; see package augment.
	Transforms augment.Ops `json:"augment,omitempty"`
	// DType of the batches: formats.Uint8, the default, Uint16, Float32, Float16 or BFloat16.
	DType formats.DType `json:"dtype"`
	// Layout of the batches: augment.NHWC, the default, or augment.NCHW.
	Layout augment.Layout `json:"layout"`
	// Color that images are decoded to; preprocess.ColorRGB if empty. With DType Uint16 images of
	// 16 bits a channel keep them; else they become 8 as in Pillow, unless Color is ColorKeep.
	Color preprocess.Color `json:"color"`
	// ApplyOrientation turns images as their EXIF orientation says; ImageFolder and Pillow
	// do not.
	ApplyOrientation bool `json:"orientation,omitempty"`
	// FastDecode decodes JPEGs as preprocess.DecodeOptions.Fast does, smaller by 2, 4 or 8 where
	// the first transform makes them smaller still: pixels are near Pillow's and no more.
	FastDecode bool `json:"fast_decode,omitempty"`
	// MaxPixels is the largest number of pixels that an image may have, and bounds the memory
	// that it may take; 0 is preprocess.DefaultMaxPixels. Larger images are bad samples.
	MaxPixels int `json:"max_pixels,omitempty"`
}

// deep reports whether images of 16 bits a channel keep them in any color.
func (c *Config) deep() bool { return c.DType == formats.Uint16 }

// WithDefaults fills in what is left out and checks the rest, as far as that needs no dataset.
func (c Config) WithDefaults() (Config, error) {
	c.Workers = cmp.Or(c.Workers, parallel.Cores())
	c.Prefetch = cmp.Or(c.Prefetch, DefaultPrefetch)
	c.WorldSize = cmp.Or(c.WorldSize, 1)
	c.DType = cmp.Or(c.DType, formats.Uint8)
	c.Layout = cmp.Or(c.Layout, augment.NHWC)
	c.Color = cmp.Or(c.Color, preprocess.ColorRGB)
	c.OnError = cmp.Or(c.OnError, Fail)
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
