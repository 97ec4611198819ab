package bench

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/trainer"
)

// Options say what is measured. The zero value is three rounds of one epoch, the loader alone, in
// order of key, with random resized crops of 224, flipped, normalised, float32, NCHW.
type Options struct {
	Rounds int `json:"rounds"` // 0 is 3
	Epochs int `json:"epochs"` // a round; 0 is 1
	// LimitBatches ends each epoch after so many batches; 0 is all.
	LimitBatches int `json:"limit_batches,omitempty"`

	// Config is the loader's, with other defaults: BatchSize is 64, DType float32, Layout NCHW,
	// Split reader.TrainSplit; with Train they are what the model takes. Transforms are a random
	// resized crop of Size, a flip and, of floats, the normalisation.
	reader.Config
	// Size is 224 if 0, with Train the model's.
	Size int `json:"-"`
	// OrderText and AugmentText are Order and Transforms for those who read the report: Run sets
	// them. In a report of a loop in Python they may be any text.
	OrderText   string `json:"order"`
	AugmentText string `json:"augment"`

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
	o.Rounds = cmp.Or(o.Rounds, 3)
	o.Epochs = cmp.Or(o.Epochs, 1)
	o.BatchSize = cmp.Or(o.BatchSize, 64)
	if o.Rounds < 0 || o.Epochs < 0 || o.LimitBatches < 0 || o.Size < 0 {
		return o, fmt.Errorf("%d rounds of %d epochs, at most %d batches, size %d: the numbers must be positive", o.Rounds, o.Epochs, o.LimitBatches, o.Size)
	}
	if o.Train != "" {
		if err := o.trainDefaults(); err != nil {
			return o, err
		}
	}
	o.Size = cmp.Or(o.Size, 224)
	o.DType = cmp.Or(o.DType, formats.Float32)
	o.Layout = cmp.Or(o.Layout, augment.NCHW)
	filled, err := o.WithDefaults()
	if err != nil {
		return o, err
	}
	o.Workers, o.Color = filled.Workers, filled.Color // the report has no other default of the reader's
	channels, normalize := 3, augment.ImageNet
	if o.Color == preprocess.ColorGray {
		channels, normalize = 1, augment.Normalize{Mean: []float64{0.5}, Std: []float64{0.5}}
	}
	if o.Transforms == nil {
		o.Transforms = augment.Train(o.Size)
		if o.DType != formats.Uint8 && o.DType != formats.Uint16 {
			o.Transforms = append(o.Transforms, normalize)
		}
	}
	o.OrderText, o.AugmentText = o.Order.String(), augment.Format(o.Transforms)
	// How color, transforms, type and layout go together, for images of some size.
	_, err = augment.Compile(o.Transforms, o.Size, o.Size, channels, o.DType, o.Layout)
	return o, err
}

// trainDefaults are those of a model, which wants NHWC and small images.
func (o *Options) trainDefaults() error {
	if o.Consume != 0 {
		return errors.New("a simulated consumer and the trainer at once: choose one")
	}
	input, err := trainer.InputOf(o.Train)
	if err != nil {
		return err
	}
	o.Size = cmp.Or(o.Size, input.Size)
	o.DType = cmp.Or(o.DType, formats.Uint8)
	o.Layout = cmp.Or(o.Layout, augment.NHWC)
	o.Color = cmp.Or(o.Color, input.Color)
	if o.Layout != augment.NHWC {
		return fmt.Errorf("layout %s: the trainer takes %s", o.Layout, augment.NHWC)
	}
	return trainer.CheckDType(o.DType)
}

// ParseRate reads a consumer's rate, images a second: "3000/s" or "3000".
func ParseRate(s string) (float64, error) {
	rate, err := strconv.ParseFloat(strings.TrimSuffix(s, "/s"), 64)
	if err != nil || !(rate > 0) || math.IsInf(rate, 1) {
		return 0, fmt.Errorf("rate %q: write images a second as 3000/s", s)
	}
	return rate, nil
}
