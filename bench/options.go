package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/trainer"
)

// Options say what is measured. The zero value measures the loader alone: three rounds of one epoch
// in key order, random resized crops of 224, flipped and normalised, float32, NCHW.
type Options struct {
	Rounds int `json:"rounds"` // 0 is 3
	Epochs int `json:"epochs"` // a round; 0 is 1
	// LimitBatches ends each epoch after that many batches; 0 is all.
	LimitBatches int `json:"limit_batches,omitempty"`

	// Config describes the loader. Other defaults than reader's: BatchSize is 64, DType float32, Layout
	// NCHW (with Train uint8, NHWC and the model's color), Split reader.TrainSplit. Transforms are a
	// random resized crop to Size, a flip and, for floats, the normalisation.
	reader.Config
	// Size is the side of the images; 0 is 224, with Train the model's.
	Size int `json:"-"`
	// ViewCount is a number of views of each image, all with Transforms; 0 is one, which is no list of views.
	ViewCount int `json:"view_count,omitempty"`
	// OrderText and AugmentText are the texts of Order and Transforms, which Run sets for the report.
	// The report of a training loop in Python may have any text here.
	OrderText   string `json:"order"`
	AugmentText string `json:"augment"`

	// Consume is the most images per second that the consumer takes; 0 is no limit.
	Consume float64 `json:"consume_images_per_second,omitempty"`
	// Train is the trainer's model that consumes the batches, on Backend; "" is none.
	Train   trainer.Model `json:"train,omitempty"`
	Backend string        `json:"backend,omitempty"`

	// Processes and Trainer are of the report of a training loop in Python: how many processes trained, and the
	// settings of each. Run does not use them.
	Processes int            `json:"processes,omitempty"`
	Trainer   map[string]any `json:"trainer,omitempty"`

	// Open opens the dataset or folder at a path; nil is dsconv.OpenSource. Run closes it.
	Open func(ctx context.Context, path string) (formats.Dataset, error) `json:"-"`
	// Progress, if not nil, is called after each turn, on the caller's goroutine.
	Progress func(Progress) `json:"-"`
}

// alone reports whether only the loader is measured.
func (o *Options) alone() bool { return o.Consume == 0 && o.Train == "" }

// consumer describes what takes the batches.
func (o *Options) consumer() string {
	switch {
	case o.Train != "":
		return "trainer " + string(o.Train)
	case o.Consume != 0:
		return fmt.Sprintf("a consumer of %g images/s", o.Consume)
	}
	return loaderAlone
}

// loaderAlone is the consumer that drops the batches.
const loaderAlone = "loader alone"

// Validate returns the error that Run would return for the options.
func (o Options) Validate() error {
	_, err := o.withDefaults()
	return err
}

// Filled returns the options with the defaults filled in, as Run uses them and a Report shows them, or the error that
// Run would return.
func (o Options) Filled() (Options, error) { return o.withDefaults() }

// withDefaults fills in the defaults and checks the options.
func (o Options) withDefaults() (Options, error) {
	o.Rounds = cmp.Or(o.Rounds, 3)
	o.Epochs = cmp.Or(o.Epochs, 1)
	o.BatchSize = cmp.Or(o.BatchSize, 64)
	if min(o.Rounds, o.Epochs, o.LimitBatches, o.Size, o.ViewCount) < 0 {
		return o, fmt.Errorf("rounds %d, epochs %d, batches %d, size %d, views %d: the numbers must not be negative",
			o.Rounds, o.Epochs, o.LimitBatches, o.Size, o.ViewCount)
	}
	if !(o.Consume >= 0) || math.IsInf(o.Consume, 0) {
		return o, fmt.Errorf("consume %v: give images per second, or 0 for no limit", o.Consume)
	}
	if o.Train != "" {
		if err := o.trainDefaults(); err != nil {
			return o, err
		}
	}
	o.Size = cmp.Or(o.Size, 224)
	o.DType = cmp.Or(o.DType, formats.Float32)
	o.Layout = cmp.Or(o.Layout, pixel.NCHW)
	filled, err := o.WithDefaults()
	if err != nil {
		return o, err
	}
	o.Workers, o.Color, o.Order = filled.Workers, filled.Color, filled.Order // which the report shows
	channels, normalize := 3, augment.ImageNet
	if o.Color == pixel.ColorGray {
		channels, normalize = 1, augment.Normalize{Mean: []float64{0.5}, Std: []float64{0.5}}
	}
	if o.Transforms == nil {
		o.Transforms = augment.Train(o.Size)
		if o.DType != formats.Uint8 && o.DType != formats.Uint16 {
			o.Transforms = append(o.Transforms, normalize)
		}
	}
	o.OrderText, o.AugmentText = o.Order.String(), o.Transforms.String()
	// Do color, transforms, dtype and layout fit together?
	_, err = augment.Compile(o.Transforms, o.Size, o.Size, channels, o.DType, o.Layout)
	if o.ViewCount > 0 {
		o.Views, o.Transforms = slices.Repeat([]augment.Ops{o.Transforms}, o.ViewCount), nil
	}
	return o, err
}

// trainDefaults fills in what the model takes: NHWC and small images.
func (o *Options) trainDefaults() error {
	if o.ViewCount != 0 {
		return errors.New("views and the trainer exclude each other: it takes one image of each sample")
	}
	if o.Consume != 0 {
		return errors.New("a simulated consumer and the trainer exclude each other: choose one")
	}
	input, err := trainer.InputOf(o.Train)
	if err != nil {
		return err
	}
	o.Size = cmp.Or(o.Size, input.Size)
	o.DType = cmp.Or(o.DType, formats.Uint8)
	o.Layout = cmp.Or(o.Layout, pixel.NHWC)
	o.Color = cmp.Or(o.Color, input.Color)
	if o.Layout != pixel.NHWC {
		return fmt.Errorf("layout %s: the trainer takes %s", o.Layout, pixel.NHWC)
	}
	return trainer.CheckDType(o.DType)
}
