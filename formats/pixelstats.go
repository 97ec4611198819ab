package formats

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// PixelStats are statistics of a dataset's designated images, as they are stored, decoded to RGB as a Loader
// decodes them by default: grey is three equal channels, palettes are looked up, and alpha is dropped. Images
// of 16 bits per channel keep all of them, but for those that are 8 bits for a Loader of uint8 alone, such as TIFFs of
// floats. The figures are exact, and do not depend on the order of the
// samples or on the number of workers.
//
// An edit changes the samples that they are of, so the new version has none.
type PixelStats struct {
	// Bits of a channel: 16 if any image has 16, otherwise 8.
	Bits int `json:"bits"`
	// Images and what follows are of the whole dataset, Splits of each of its splits.
	PixelFigures
	Splits []PixelFigures `json:"splits,omitempty"`
}

// PixelFigures are figures of the images of a dataset or of a split.
type PixelFigures struct {
	Split string `json:"split,omitempty"`
	// Images were decoded; Undecoded could not be, such as those of an unsupported kind, and are in no other
	// figure than the classes.
	Images    int   `json:"images"`
	Undecoded int   `json:"undecoded,omitempty"`
	Pixels    int64 `json:"pixels"`
	// Mean and Std are of each channel, red, green and blue, of pixels from 0 to 1: values of 8 bits divided
	// by 255, those of 16 bits by 65535. Std is that of the whole population (numpy's ddof=0).
	Mean   [3]float64 `json:"mean"`
	Std    [3]float64 `json:"std"`
	Height SizeRange  `json:"height"`
	Width  SizeRange  `json:"width"`
	// Classes counts the samples of each class of the designated label. A sample with several counts in each
	// of them.
	Classes   []int `json:"classes,omitempty"`
	Unlabeled int   `json:"unlabeled,omitempty"`
}

// SizeRange are heights or widths in pixels. Median is the smallest that is not smaller than half of them.
type SizeRange struct {
	Min    int `json:"min"`
	Median int `json:"median"`
	Max    int `json:"max"`
}

// PixelStatsWriter is a Writer that records statistics of the images in Meta.PixelStats.
type PixelStatsWriter interface {
	// SetPixelStats is called before Commit.
	SetPixelStats(s *PixelStats)
}

// ErrNoPixelStats is returned for a dataset that was packed without statistics of its pixels, or whose
// statistics do not serve the purpose.
var ErrNoPixelStats = errors.New("no statistics of the pixels")

// evaluation are the names of splits whose figures no training is normalised by.
var evaluation = []string{"val", "valid", "validation", "test"}

// names are the names of the splits.
func (s *PixelStats) names() (names []string) {
	for _, f := range s.Splits {
		names = append(names, f.Split)
	}
	return names
}

// Normalization returns the figures that images are normalised by, whichever split is loaded: those of the
// split train, or of the whole dataset if it has no such split. ErrNoPixelStats is in the chain of its error,
// which says what to do: a dataset without statistics, one of evaluation splits only, and one with a channel
// that has one value throughout.
func (m *Meta) Normalization() (PixelFigures, error) {
	s := m.PixelStats
	switch {
	case s == nil:
		return PixelFigures{}, fmt.Errorf("%w: dsconv pack --stats records them", ErrNoPixelStats)
	case s.Bits == 16:
		return PixelFigures{}, fmt.Errorf("%w of 8 bits: those of this dataset are of images of 16 bits per channel, and normalised batches hold 8", ErrNoPixelStats)
	case s.Pixels == 0:
		return PixelFigures{}, fmt.Errorf("%w: no image of the dataset could be decoded for them", ErrNoPixelStats)
	}
	of := s.PixelFigures
	if i := slices.IndexFunc(s.Splits, func(f PixelFigures) bool { return f.Split == "train" }); i >= 0 {
		of = s.Splits[i]
	} else if len(s.Splits) > 0 && !slices.ContainsFunc(s.Splits, func(f PixelFigures) bool { return !slices.Contains(evaluation, f.Split) }) {
		return of, fmt.Errorf("%w of a split train: the dataset has only %s; give the figures of the training images, normalize:MEAN:STD", ErrNoPixelStats, strings.Join(s.names(), " and "))
	}
	for c, std := range of.Std {
		if !(std > 0) || math.IsInf(std, 0) {
			return of, fmt.Errorf("%w that can normalise: channel %d has the standard deviation %v; give figures of your own, normalize:MEAN:STD", ErrNoPixelStats, c, std)
		}
	}
	return of, nil
}
