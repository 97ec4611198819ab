package reader

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/gpudecode"
	"github.com/dsconv/dsconv/internal/parallel"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/order"
)

// DefaultPrefetch is the Prefetch of a Config that leaves it out.
const DefaultPrefetch = 2

// Config describes a Loader. There is no other description: the flags of dsconv bench and train set
// a Config, Python sends one as JSON, and a bench's report contains one. A field's zero value is its
// default; only BatchSize has none.
type Config struct {
	BatchSize int `json:"batch"`
	// Workers is the number of goroutines that read and decode; 0 is the number of cores, by the
	// cgroup's limit. They are mostly in C: see the package's section on speed.
	Workers int `json:"workers"`
	// Prefetch is how many batches are loaded before they are asked for; 0 is DefaultPrefetch.
	Prefetch int `json:"prefetch,omitempty"`
	// Synchronous loads each batch in the goroutine that asks for it, when it asks: no goroutines are started,
	// and nothing is loaded before. The batches are the same. Workers and Prefetch must be 0 then.
	Synchronous bool `json:"synchronous,omitempty"`

	// Shuffle shuffles all samples of each epoch, as order.Full of package reader/order; otherwise they come in key order.
	Shuffle bool `json:"-"`
	// Order is the order of the samples, see package reader/order. With Shuffle it must be left out, or be
	// order.Full.
	Order order.Spec `json:"order"`
	// Weight returns a sample's weight for the order Weighted.
	Weight func(formats.Info) float64 `json:"-"`
	// Weights are used instead of Weight: that of sample i, as Batch.Indices numbers them, is Weights[i]. They
	// must be finite and not negative, and not all 0. A Loader does not keep them.
	Weights []float64 `json:"-"`
	// Seed is the seed of the order and the augmentations.
	Seed uint64 `json:"seed"`
	// Tail says what happens to the samples that do not fill a batch on every rank; the default is
	// order.Pad.
	Tail order.Tail `json:"tail,omitzero"`
	// Rank, from 0, of WorldSize processes that share an epoch; WorldSize 0 is 1.
	Rank      int `json:"rank,omitempty"`
	WorldSize int `json:"world_size,omitempty"`

	// Split is the split whose samples are loaded; "" is all.
	Split string `json:"split,omitempty"`
	// Splits are several splits, whose samples are loaded in key order. Split must be left out then.
	Splits []string `json:"splits,omitempty"`
	// Select keeps only the samples for which it returns true; nil keeps all.
	Select func(formats.Info) bool `json:"-"`
	// Samples, unless nil, are the only samples that are loaded, in this order: indices among those of the split
	// for which Select is true. One that comes twice is two samples. Batch.Indices and all else that numbers
	// samples count positions in this list, as torch's Subset does. A Loader does not keep the slice.
	Samples []int32 `json:"-"`
	// Fields names the extra fields that batches have; see Field.
	Fields []string `json:"fields,omitempty"`
	// LabelDType is the type of the labels: formats.Int64, the default, Uint8 or Uint16. Labels
	// that are numbers to predict are formats.Float32, and nothing else.
	LabelDType formats.DType `json:"label_dtype,omitempty"`
	// OnError says what happens to bad samples; Fail is the default.
	OnError OnError `json:"on_error,omitempty"`
	// Cache keeps samples in memory.
	Cache Cache `json:"cache,omitzero"`
	// AnySize lets images differ in size after the transforms. There are no batches then: Pick reads
	// samples.
	AnySize bool `json:"any_size,omitempty"`
	// Transforms make all images one size, such as augment.Train(224), or what augment.Parse reads; see
	// package reader/augment.
	Transforms augment.Ops `json:"augment,omitempty"`
	// Views are the transforms of each of several views of an image, in place of Transforms: see the
	// package's section on views. They exclude MixUp, CutMix, and extra fields that follow the image.
	Views []augment.Ops `json:"views,omitempty"`
	// DType of the batches: formats.Uint8, the default, Uint16, Float32, Float16 or BFloat16.
	DType formats.DType `json:"dtype"`
	// Layout of the batches: pixel.NHWC, the default, or pixel.NCHW.
	Layout pixel.Layout `json:"layout"`
	// Deferred leaves the last pass over the pixels to whoever takes the batches, such as a GPU: images are uint8 in
	// the layout NHWC, and Batch.Rest and FinalFrame say what makes of them what DType, Layout and Transforms
	// describe. It excludes DType Uint16, ColorKeep and AnySize.
	Deferred bool `json:"deferred,omitempty"`
	// Color that images are decoded to; "" is pixel.ColorRGB. Images of 16 bits per channel become
	// 8 bits as in Pillow, unless DType is Uint16 or Color is ColorKeep.
	Color pixel.Color `json:"color"`
	// ApplyOrientation applies the EXIF orientation, which ImageFolder and Pillow do not.
	ApplyOrientation bool `json:"orientation,omitempty"`
	// FastDecode decodes JPEGs as Fast of package preprocess/codec does, reduced by 2, 4 or 8 if the first
	// transform reduces them more: the pixels are near Pillow's, not equal.
	FastDecode bool `json:"fast_decode,omitempty"`
	// Decoder is what decodes the images: DecodeOnCPU, the default, or DecodeOnGPU, which needs GPU.
	Decoder Decoder `json:"decoder,omitempty"`
	// GPU says which GPU decodes, and by which library, with DecodeOnGPU.
	GPU gpudecode.Options `json:"gpu,omitzero"`
	// MaxPixels is the most pixels that an image may have, and bounds the memory that it may use; 0
	// is pixel.DefaultMaxPixels. Larger images are bad samples.
	MaxPixels int `json:"max_pixels,omitempty"`
}

// deep reports whether images of 16 bits per channel stay so in any color.
func (c *Config) deep() bool { return c.DType == formats.Uint16 }

// WithDefaults fills in the defaults and checks all that can be checked without the dataset.
func (c Config) WithDefaults() (Config, error) {
	if !c.Synchronous {
		c.Workers = cmp.Or(c.Workers, parallel.Cores())
		c.Prefetch = cmp.Or(c.Prefetch, DefaultPrefetch)
	}
	c.WorldSize = cmp.Or(c.WorldSize, 1)
	c.DType = cmp.Or(c.DType, formats.Uint8)
	c.Layout = cmp.Or(c.Layout, pixel.NHWC)
	c.Color = cmp.Or(c.Color, pixel.ColorRGB)
	c.OnError = cmp.Or(c.OnError, Fail)
	c.Tail = cmp.Or(c.Tail, order.Pad)
	if c.Order == (order.Spec{}) && c.Shuffle {
		c.Order = order.Spec{Kind: order.Full}
	}
	switch {
	case c.BatchSize <= 0:
		return c, fmt.Errorf("batch size %d: it must be at least 1", c.BatchSize)
	case c.Workers < 0:
		return c, fmt.Errorf("workers %d: the number must not be negative", c.Workers)
	case c.Prefetch < 0:
		return c, fmt.Errorf("prefetch %d: the number of batches must not be negative", c.Prefetch)
	case c.Synchronous && (c.Workers > 0 || c.Prefetch > 0):
		return c, fmt.Errorf("synchronous with %d workers and %d batches of prefetch: both must be 0", c.Workers, c.Prefetch)
	case c.WorldSize < 0 || c.Rank < 0 || c.Rank >= c.WorldSize:
		return c, fmt.Errorf("rank %d of %d: it must be from 0 to the world size minus 1", c.Rank, c.WorldSize)
	case c.MaxPixels < 0:
		return c, fmt.Errorf("max pixels %d: the number must not be negative", c.MaxPixels)
	case c.Shuffle && c.Order.Kind != order.Full:
		return c, fmt.Errorf("shuffle with the order %q: shuffle is the order %q; leave out one of them", c.Order, order.Full)
	case c.Weight != nil && c.Weights != nil:
		return c, errors.New("weight and weights: leave out one of them")
	case c.Weights != nil && c.Order.Kind != order.Weighted:
		return c, fmt.Errorf("weights with the order %q: only the order %q uses them", c.Order, order.Weighted)
	case c.FastDecode && c.Cache.Kind == Decoded:
		return c, errors.New("fast decode with a cache of decoded images: their pixels would depend on what is in the cache")
	}
	for _, check := range []func() error{c.checkSplits, c.checkDeferred, c.checkDecoder, c.checkNames} {
		if err := check(); err != nil {
			return c, err
		}
	}
	return c, nil
}

// splits are the names of the splits that are loaded; none is all samples.
func (c *Config) splits() []string {
	if c.Split != "" {
		return []string{c.Split}
	}
	return c.Splits
}

func (c *Config) checkSplits() error {
	if c.Split != "" && len(c.Splits) > 0 {
		return fmt.Errorf("split %q and splits %q: leave out one of them", c.Split, c.Splits)
	}
	return checkSplits(c.Splits)
}

// checkSplits returns an error for a list of splits that has an empty name, or a name twice.
func checkSplits(names []string) error {
	for k, name := range names {
		if name == "" {
			return fmt.Errorf("splits %q: a name is empty; no splits at all load all samples", names)
		}
		if slices.Contains(names[:k], name) {
			return fmt.Errorf("splits %q: %q is in the list twice", names, name)
		}
	}
	return nil
}

// checkNames checks the fields that take one of a few values, and the transforms.
func (c *Config) checkNames() error {
	color := c.Color.UnmarshalText([]byte(c.Color))
	_, onError := ParseOnError(string(c.OnError))
	_, tail := order.ParseTail(string(c.Tail))
	for _, err := range []error{color, onError, tail, c.Order.Check(), c.Cache.check(), checkDType(c.DType)} {
		if err != nil {
			return err
		}
	}
	if c.Layout != pixel.NHWC && c.Layout != pixel.NCHW {
		return fmt.Errorf("layout %q: unknown; use %s or %s", c.Layout, pixel.NHWC, pixel.NCHW)
	}
	if err := c.checkTransforms(); err != nil {
		return err
	}
	if c.LabelDType == "" || c.LabelDType == formats.Float32 {
		return nil
	}
	return checkLabels(c.LabelDType, 0)
}

// checkTransforms checks the transforms of all views.
func (c *Config) checkTransforms() error {
	if len(c.Views) > 0 && len(c.Transforms) > 0 {
		return errors.New("views and transforms exclude each other: each of the views has transforms of its own")
	}
	for k, ops := range c.opsOfViews() {
		if i := slices.Index(ops, nil); i >= 0 {
			return c.ofView(k, fmt.Errorf("transforms: op %d is nil", i))
		}
	}
	return nil
}

// checkDType returns an error for a type that images cannot have.
func checkDType(d formats.DType) error {
	switch d {
	case formats.Uint8, formats.Uint16, formats.Float32, formats.Float16, formats.BFloat16:
		return nil
	}
	return fmt.Errorf("type %q of the images: unknown; use %s, %s, %s, %s or %s", d,
		formats.Uint8, formats.Uint16, formats.Float32, formats.Float16, formats.BFloat16)
}
