package reader

import (
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/sampleorder"
)

// WeightedDataset is one dataset of a mixture.
type WeightedDataset struct {
	Dataset formats.Dataset
	Split   string // "" is all
	// Weight is its share of an epoch's samples, relative to the weights of the others.
	Weight float64
}

// NewMixture makes a Loader of several datasets, which stay the caller's. An epoch has as many
// samples of each dataset as its weight says, evenly spread, and repeats none before all of its
// dataset were used. The datasets have the same fields and classes. Batch.Indices number the samples
// of the datasets, or of their splits, one dataset after the other. Of c.Order only Draws, the
// length of an epoch, is used; 0 is the number of samples. c's Split, Splits, Select, Samples and Weights
// must be left out.
func NewMixture(datasets []WeightedDataset, c Config) (*Loader, error) {
	if len(c.splits()) > 0 || c.Select != nil || c.Samples != nil || c.Weights != nil {
		return nil, errors.New("mixture of datasets: set split and weight of each dataset; Config.Split, Splits, Select, Samples and Weights must be left out")
	}
	if len(datasets) == 0 {
		return nil, errors.New("mixture of datasets: there are none")
	}
	parts, weighted := make([]Part, len(datasets)), make([]sampleorder.WeightedDataset, len(datasets))
	for k, d := range datasets {
		parts[k].Dataset = d.Dataset
		if d.Split != "" {
			parts[k].Splits = []string{d.Split}
		}
	}
	ds, err := concatenate(parts)
	if err != nil {
		return nil, fmt.Errorf("mixture of datasets: %w", err)
	}
	return newLoader(ds, c, "a mixture of datasets", func(l *Loader) error {
		samples, err := selectParts(parts, nil)
		if err != nil {
			return fmt.Errorf("mixture of datasets: %w", err)
		}
		for k, s := range samples {
			weighted[k] = sampleorder.WeightedDataset{Samples: s.Len(), Weight: datasets[k].Weight}
		}
		l.samples = sampleorder.Join(samples...)
		return nil
	}, func(l *Loader) (err error) {
		l.plan, err = sampleorder.PlanMixture(weighted, c.Order.Draws)
		return err
	})
}
