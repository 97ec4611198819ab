package reader

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"

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
// length of an epoch, is used; 0 is the number of samples. c.Split and c.Select must be left out.
func NewMixture(datasets []WeightedDataset, c Config) (*Loader, error) {
	if c.Split != "" || c.Select != nil {
		return nil, errors.New("mixture of datasets: set the split of each dataset; Config.Split and Config.Select must be left out")
	}
	if len(datasets) == 0 {
		return nil, errors.New("mixture of datasets: there are none")
	}
	for k, d := range datasets {
		if d.Dataset == nil {
			return nil, fmt.Errorf("mixture of datasets: dataset %d is nil", k)
		}
	}
	ds, err := concatenate(datasets)
	if err != nil {
		return nil, fmt.Errorf("mixture of datasets: %w", err)
	}
	parts, weighted := make([]sampleorder.Subset, len(datasets)), make([]sampleorder.WeightedDataset, len(datasets))
	return newLoader(ds, c, "a mixture of datasets", func(l *Loader) (err error) {
		for k, d := range datasets {
			if parts[k], err = selectSamples(d.Dataset, d.Split, nil); err != nil {
				return fmt.Errorf("mixture of datasets: dataset %d: %w", k, err)
			}
			weighted[k] = sampleorder.WeightedDataset{Samples: parts[k].Len(), Weight: d.Weight}
		}
		l.samples = sampleorder.Join(parts...)
		return nil
	}, func(l *Loader) (err error) {
		l.plan, err = sampleorder.PlanMixture(weighted, c.Order.Draws)
		return err
	})
}

// concatenation is several datasets as one, for the Loader alone: its keys are not in order.
type concatenation struct {
	datasets []formats.Dataset
	views    []func(i int, s *formats.Sample) error
	first    []int // index of each dataset's first sample
	meta     formats.Meta
}

func concatenate(datasets []WeightedDataset) (*concatenation, error) {
	all := &concatenation{}
	for k, d := range datasets {
		m := d.Dataset.Meta()
		if k == 0 {
			all.meta = *m
			all.meta.Schema = slices.Clone(m.Schema)
			all.meta.Splits, all.meta.Files, all.meta.Count = nil, nil, 0
		} else if err := joinSchemas(all.meta.Schema, m.Schema); err != nil {
			return nil, fmt.Errorf("dataset %d and dataset 0 differ: %w", k, err)
		}
		all.meta.Stats.MaxHeight = max(all.meta.Stats.MaxHeight, m.Stats.MaxHeight)
		all.meta.Stats.MaxWidth = max(all.meta.Stats.MaxWidth, m.Stats.MaxWidth)
		view := d.Dataset.Read
		if v, ok := d.Dataset.(formats.Viewer); ok {
			view = v.View
		}
		all.datasets, all.views = append(all.datasets, d.Dataset), append(all.views, view)
		all.first = append(all.first, all.meta.Count)
		all.meta.Count += d.Dataset.Len()
	}
	return all, nil
}

// joinSchemas reduces a to what a and b have in common. It fails if that is less than a batch needs.
func joinSchemas(a, b formats.Schema) error {
	if len(a) != len(b) {
		return fmt.Errorf("%w: %d fields and %d", formats.ErrSchema, len(b), len(a))
	}
	for k := range a {
		switch {
		case a[k].Name != b[k].Name || a[k].Kind != b[k].Kind:
			return fmt.Errorf("%w: field %q of kind %s and field %q of kind %s", formats.ErrSchema, b[k].Name, b[k].Kind, a[k].Name, a[k].Kind)
		case !slices.Equal(a[k].Classes, b[k].Classes):
			return fmt.Errorf("%w: the classes of field %q, or their order", formats.ErrSchema, a[k].Name)
		}
		if a[k].DType != b[k].DType {
			a[k].DType = ""
		}
		if !slices.Equal(a[k].Shape, b[k].Shape) {
			a[k].Shape = nil
		}
	}
	return nil
}

// locate returns the dataset of sample i, and its index in it.
func (d *concatenation) locate(i int) (k, index int) {
	k = sort.SearchInts(d.first, i+1) - 1
	return k, i - d.first[k]
}

func (d *concatenation) Meta() *formats.Meta { return &d.meta }
func (d *concatenation) Len() int            { return d.meta.Count }
func (d *concatenation) Close() error        { return nil }

// Lease leases the datasets that can be.
func (d *concatenation) Lease() (release func(), err error) {
	var all []func()
	release = func() {
		for _, release := range all {
			release()
		}
	}
	for _, one := range d.datasets {
		if l, ok := one.(formats.Viewer); ok {
			free, err := l.Lease()
			if err != nil {
				release()
				return nil, err
			}
			all = append(all, free)
		}
	}
	return release, nil
}

// Identify implements formats.Identifier for the datasets that have no checksums.
func (d *concatenation) Identify(w io.Writer) error {
	for _, one := range d.datasets {
		if named, ok := one.(formats.Identifier); ok {
			if err := named.Identify(w); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *concatenation) Info(i int) (formats.Info, error) {
	k, index := d.locate(i)
	return d.datasets[k].Info(index)
}

func (d *concatenation) Read(i int, s *formats.Sample) error {
	k, index := d.locate(i)
	return d.datasets[k].Read(index, s)
}

func (d *concatenation) View(i int, s *formats.Sample) error {
	k, index := d.locate(i)
	return d.views[k](index, s)
}

// Prefetch implements formats.Prefetcher: each dataset gets its own indices.
func (d *concatenation) Prefetch(indices []int32) {
	own := make([][]int32, len(d.datasets))
	for _, i := range indices {
		k, index := d.locate(int(i))
		own[k] = append(own[k], int32(index))
	}
	for k, one := range d.datasets {
		if f, ok := one.(formats.Prefetcher); ok && len(own[k]) > 0 {
			f.Prefetch(own[k])
		}
	}
}
