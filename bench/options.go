package bench

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
)

// Options say what is measured. The zero value measures the loader alone: three rounds of one epoch
// in key order, random resized crops of 224, flipped and normalised, float32, NCHW.
type Options struct {
	Rounds int `json:"rounds"` // 0 is 3
	Epochs int `json:"epochs"` // a round; 0 is 1
	// LimitBatches ends each epoch after that many batches; 0 is all. Limit ends it after that time, but with four batches
	// at least, or two of those that take very long.
	LimitBatches int           `json:"limit_batches,omitempty"`
	Limit        time.Duration `json:"-"`

	// Config describes the loader. Other defaults than reader's: BatchSize is 64, DType float32, Layout
	// NCHW, Split reader.TrainSplit. Transforms are a
	// random resized crop to Size, a flip and, for floats, the normalisation.
	reader.Config
	// Size is the side of the images; 0 is 224.
	Size int `json:"-"`
	// OrderText and AugmentText are the texts of Order and Transforms, which Run sets for the report.
	// The report of a training loop in Python may have any text here.
	OrderText   string `json:"order"`
	AugmentText string `json:"augment"`

	// Consume is the most images per second that the consumer takes; 0 is no limit.
	Consume float64 `json:"consume_images_per_second,omitempty"`
	// Processes and Trainer are of the report of a training loop in Python: how many processes trained, and the
	// settings of each. Run does not use them.
	Processes int            `json:"processes,omitempty"`
	Trainer   map[string]any `json:"trainer,omitempty"`

	// SamplesOf, if not nil, are Config.Samples of the dataset at a path, among those of all splits if Config.Split is "".
	SamplesOf func(path string) []int32 `json:"-"`
	// Open opens the dataset or folder at a path; nil is dsconv.OpenSource. Run closes it.
	Open func(ctx context.Context, path string) (formats.Dataset, error) `json:"-"`
	// Progress, if not nil, is called after each turn, on the caller's goroutine.
	Progress func(Progress) `json:"-"`
}

// consumer describes what takes the batches.
func (o *Options) consumer() string {
	if o.Consume != 0 {
		return fmt.Sprintf("a consumer of %g images/s", o.Consume)
	}
	return loaderAlone
}

// loaderAlone is the consumer that drops the batches.
const loaderAlone = "loader alone"

// Filled returns the options with the defaults filled in, as Run uses them and a Report shows them, or the error that
// Run would return.
func (o Options) Filled() (Options, error) {
	o.Rounds = cmp.Or(o.Rounds, 3)
	o.Epochs = cmp.Or(o.Epochs, 1)
	o.BatchSize = cmp.Or(o.BatchSize, 64)
	if min(o.Rounds, o.Epochs, o.LimitBatches, o.Size) < 0 {
		return o, fmt.Errorf("rounds %d, epochs %d, batches %d, size %d: the numbers must not be negative",
			o.Rounds, o.Epochs, o.LimitBatches, o.Size)
	}
	if !(o.Consume >= 0) || math.IsInf(o.Consume, 0) {
		return o, fmt.Errorf("consume %v: give images per second, or 0 for no limit", o.Consume)
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
	return o, err
}
