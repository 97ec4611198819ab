package reader

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/sampleorder"
)

// Part is one of several datasets that NewConcat loads as one.
type Part struct {
	Dataset formats.Dataset
	// Name is the dataset's name in errors, such as its path; "" is its number.
	Name string
	// Splits are the splits whose samples are loaded; nil is what Config.Split or Splits says.
	Splits []string
}

// NewConcat makes a Loader of the samples of several datasets, one dataset after the other, each in key
// order. They stay the caller's. The datasets must have the same fields and classes, in the same order:
// the error names the first difference. Batch.Indices, Config.Samples and Config.Weights number the samples
// through all datasets. Meta has the columns that all of them have.
func NewConcat(parts []Part, c Config) (*Loader, error) {
	if len(parts) == 0 {
		return nil, errors.New("several datasets as one: there are none")
	}
	own := make([]Part, len(parts))
	var names []string
	for k, p := range parts {
		own[k], names = p, append(names, nameOf(parts, k))
		if err := checkSplits(p.Splits); err != nil {
			return nil, fmt.Errorf("%s: %w", names[k], err)
		}
		if p.Splits == nil {
			own[k].Splits = c.splits()
		}
	}
	ds, err := concatenate(own)
	if err != nil {
		return nil, err
	}
	if len(parts) == 1 {
		c.Split, c.Splits = "", own[0].Splits
		return newFor(own[0].Dataset, c, names[0])
	}
	return newLoader(ds, c, strings.Join(names, ", "), func(l *Loader) error {
		samples, err := selectParts(own, c.Select)
		if err != nil {
			return err
		}
		l.samples = sampleorder.Join(samples...)
		for _, s := range samples {
			l.parts += fmt.Sprintf("; %s", s)
		}
		return l.takeSamples()
	})
}

// selectParts returns the samples of each part.
func selectParts(parts []Part, keep func(formats.Info) bool) (samples []sampleorder.Subset, err error) {
	samples = make([]sampleorder.Subset, len(parts))
	for k, p := range parts {
		if samples[k], err = selectSamples(p.Dataset, p.Splits, keep); err != nil {
			return nil, fmt.Errorf("%s: %w", nameOf(parts, k), err)
		}
	}
	return samples, nil
}
