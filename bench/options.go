package bench

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/parallel"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/order"
	"github.com/dsconv/dsconv/trainer"
)

// Options say what is measured. The zero value is three rounds of one epoch, the loader
// alone, with random resized crops of 224, flipped, normalised, float32, NCHW.
type Options struct {
	Rounds  int `json:"rounds"`  // 0 is 3
	Epochs  int `json:"epochs"`  // a round; 0 is 1
	Batch   int `json:"batch"`   // images; 0 is 64
	Workers int `json:"workers"` // 0 is the number of cores
	// LimitBatches ends each epoch after so many batches; 0 is all.
	LimitBatches int    `json:"limit_batches,omitempty"`
	Seed         uint64 `json:"seed"`
	// Order of the images, as order.Parse reads it; "" is full, a full shuffle.
	Order    string         `json:"order"`
	Prefetch int            `json:"prefetch,omitempty"` // batches; 0 is the reader's own
	OnError  reader.OnError `json:"on_error,omitempty"`
	Cache    reader.Cache   `json:"cache,omitzero"`
	// Split is the split to read; "" is "train" in datasets that have it, else everything.
	Split string `json:"split,omitempty"`

	// Size of the random resized crop, which a flip follows and, for float32, the
	// normalisation; 0 is 224, with Train the model's usual size. Augment replaces all that
	// by ops of its own (augment.Syntax).
	Size    int    `json:"-"`
	Augment string `json:"augment"`
	// DType is float32 if empty, Layout NCHW; with Train uint8 and NHWC.
	DType  formats.DType  `json:"dtype"`
	Layout augment.Layout `json:"layout"`
	Color  pixel.Color    `json:"color"`
	// FastDecode is reader.Config's.
	FastDecode bool `json:"fast_decode,omitempty"`
	// MaxPixels is reader.Config's.
	MaxPixels int `json:"max_pixels,omitempty"`

	// Consume, if not 0, is the largest number of images that the consumer takes a second.
	Consume float64 `json:"consume_images_per_second,omitempty"`
	// Train, if not "", is the trainer's model that consumes the batches, on Backend.
	Train   string `json:"train,omitempty"`
	Backend string `json:"backend,omitempty"`
}

// alone says that nothing but the loader is measured.
func (o *Options) alone() bool { return o.Consume == 0 && o.Train == "" }

// consumer describes what takes the batches.
func (o *Options) consumer() string {
	switch {
	case o.Train != "":
		return "trainer " + o.Train
	case o.Consume != 0:
		return fmt.Sprintf("a consumer of %g images/s", o.Consume)
	}
	return loaderAlone
}

// loaderAlone is the consumer that drops the batches.
const loaderAlone = "loader alone"

// Validate reports options that make no sense.
func (o Options) Validate() error {
	_, err := o.withDefaults()
	return err
}

// withDefaults fills in what is left out and reports what makes no sense.
func (o Options) withDefaults() (Options, error) {
	setDefault(&o.Rounds, 3)
	setDefault(&o.Epochs, 1)
	setDefault(&o.Batch, 64)
	setDefault(&o.Workers, parallel.Cores())
	setDefault(&o.Order, order.Full.String())
	for _, c := range []struct {
		name string
		n    int
	}{
		{"rounds", o.Rounds},
		{"epochs", o.Epochs},
		{"batch", o.Batch},
		{"workers", o.Workers},
		{"size", o.Size},
		{"batches", o.LimitBatches},
		{"prefetch", o.Prefetch},
	} {
		if c.n < 0 {
			return o, fmt.Errorf("%s %d: the number must be positive", c.name, c.n)
		}
	}
	if o.Train != "" {
		if err := o.trainDefaults(); err != nil {
			return o, err
		}
	}
	setDefault(&o.Size, 224)
	setDefault(&o.DType, formats.Float32)
	setDefault(&o.Layout, augment.NCHW)
	setDefault(&o.Color, pixel.ColorRGB)
	if err := o.setAugment(); err != nil {
		return o, err
	}
	if err := o.checkOrder(); err != nil {
		return o, err
	}
	return o, o.compile()
}

// checkOrder takes the orders that need nothing but the dataset.
func (o *Options) checkOrder() error {
	spec, err := order.Parse(o.Order)
	if err == nil && spec.Kind == order.Weighted {
		return fmt.Errorf("order %q: a bench has no weights", o.Order)
	}
	return err
}

// compile checks how color, ops, type and layout go together, for images of some size.
func (o *Options) compile() error {
	ops, err := augment.Parse(o.Augment)
	if err != nil {
		return err
	}
	channels := 3
	if o.Color == pixel.ColorGray {
		channels = 1
	}
	_, err = augment.Compile(ops, o.Size, o.Size, channels, o.DType, o.Layout)
	return err
}

// trainDefaults are those of a model, which wants NHWC and small images.
func (o *Options) trainDefaults() error {
	switch {
	case o.Consume != 0:
		return errors.New("a simulated consumer and the trainer at once: choose one")
	case !slices.Contains(trainer.Models(), o.Train):
		return fmt.Errorf("model %q: choose one of %s", o.Train, strings.Join(trainer.Models(), ", "))
	case o.DType == formats.Float16 || o.DType == formats.BFloat16:
		return fmt.Errorf("batches of %s: the trainer takes %s or %s", o.DType, formats.Uint8, formats.Float32)
	case o.Layout == augment.NCHW:
		return fmt.Errorf("layout %s: the trainer takes %s", o.Layout, augment.NHWC)
	}
	size := 32
	if o.Train == "mlp" {
		size = 28
		setDefault(&o.Color, pixel.ColorGray)
	}
	setDefault(&o.Size, size)
	setDefault(&o.DType, formats.Uint8)
	setDefault(&o.Layout, augment.NHWC)
	return nil
}

// setAugment makes Augment what is done, in its canonical form.
func (o *Options) setAugment() error {
	ops := augment.Train(o.Size)
	if o.DType != formats.Uint8 && o.DType != formats.Uint16 {
		ops = append(ops, normalisation(o.Color))
	}
	if o.Augment != "" {
		var err error
		if ops, err = augment.Parse(o.Augment); err != nil {
			return err
		}
	}
	o.Augment = augment.Format(ops)
	return nil
}

func normalisation(c pixel.Color) augment.Op {
	if c == pixel.ColorGray {
		return augment.Normalize{Mean: []float64{0.5}, Std: []float64{0.5}}
	}
	return augment.ImageNet
}

// loaderConfig is how a dataset's split is read.
func (o *Options) loaderConfig(split string) (reader.Config, error) {
	ops, err := augment.Parse(o.Augment)
	if err != nil {
		return reader.Config{}, err
	}
	spec, err := order.Parse(o.Order)
	return reader.Config{
		BatchSize: o.Batch, Workers: o.Workers, Prefetch: o.Prefetch, Order: spec, Seed: o.Seed, Split: split,
		Transforms: ops, DType: o.DType, Layout: o.Layout, Color: o.Color, FastDecode: o.FastDecode,
		OnError: o.OnError, Cache: o.Cache, MaxPixels: o.MaxPixels,
	}, err
}

// ParseRate reads a consumer's rate, images a second: "3000/s" or "3000".
func ParseRate(s string) (float64, error) {
	rate, err := strconv.ParseFloat(strings.TrimSuffix(s, "/s"), 64)
	if err != nil || !(rate > 0) || math.IsInf(rate, 1) {
		return 0, fmt.Errorf("rate %q: write images a second as 3000/s", s)
	}
	return rate, nil
}

func setDefault[T comparable](v *T, value T) {
	var zero T
	if *v == zero {
		*v = value
	}
}
