package reader

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader/order"
)

// Part is a dataset that is mixed with others.
type Part struct {
	Dataset formats.Dataset
	Split   string // "" is all
	// Weight is its share of an epoch's samples, beside the other parts' weights.
	Weight float64
}

// NewMix makes a Loader of several datasets, which stay the caller's: of each so many samples
// come as its weight says, evenly over the epoch, and each sample of a part once before any
// comes again. The datasets have the same fields and classes. Batch.Indices number the samples
// of the parts, or of their splits, one part after the other. Of c.Order only Draws, the length of an epoch, is used; 0 is the number of
// samples. c.Split and c.Select must be left out.
func NewMix(parts []Part, c Config) (*Loader, error) {
	if c.Split != "" || c.Select != nil {
		return nil, errors.New("mix datasets: a split or a selection is one of a part")
	}
	ds, err := concatenate(parts)
	if err != nil {
		return nil, fmt.Errorf("mix datasets: %w", err)
	}
	indices, shares := []int32{}, make([]order.Part, len(parts))
	for k, p := range parts {
		s, err := selectSamples(p.Dataset, p.Split, nil)
		if err != nil {
			return nil, fmt.Errorf("mix datasets: part %d: %w", k, err)
		}
		for i := range s.Len() {
			indices = append(indices, int32(ds.first[k]+s.At(i)))
		}
		shares[k] = order.Part{Samples: s.Len(), Weight: p.Weight}
	}
	samples, err := order.Pick(ds.Len(), indices)
	if err != nil {
		return nil, fmt.Errorf("mix datasets: %w", err)
	}
	return newLoader(ds, samples, c, func(l *Loader) error {
		var err error
		l.plan, err = order.Mix(shares, c.Order.Draws)
		return err
	})
}

// concatenation is several datasets as one, for the Loader alone: its keys are not in order.
type concatenation struct {
	parts []formats.Dataset
	views []func(i int, s *formats.Sample) error
	first []int // index of each part's first sample
	meta  formats.Meta
}

func concatenate(parts []Part) (*concatenation, error) {
	d := &concatenation{}
	for k, p := range parts {
		m := p.Dataset.Meta()
		if k == 0 {
			d.meta = *m
			d.meta.Schema = slices.Clone(m.Schema)
			d.meta.Splits, d.meta.Files, d.meta.Count = nil, nil, 0
		} else if err := joinSchemas(d.meta.Schema, m.Schema); err != nil {
			return nil, fmt.Errorf("part %d beside the first: %w", k, err)
		}
		d.meta.Stats.MaxHeight = max(d.meta.Stats.MaxHeight, m.Stats.MaxHeight)
		d.meta.Stats.MaxWidth = max(d.meta.Stats.MaxWidth, m.Stats.MaxWidth)
		view := p.Dataset.Read
		if v, ok := p.Dataset.(formats.Viewer); ok {
			view = v.View
		}
		d.parts, d.views = append(d.parts, p.Dataset), append(d.views, view)
		d.first = append(d.first, d.meta.Count)
		d.meta.Count += p.Dataset.Len()
	}
	return d, nil
}

// joinSchemas makes a what a and b have in common, which must be all that a batch needs.
func joinSchemas(a, b formats.Schema) error {
	if len(a) != len(b) {
		return fmt.Errorf("%w: %d fields beside %d", formats.ErrSchema, len(b), len(a))
	}
	for k := range a {
		switch {
		case a[k].Name != b[k].Name || a[k].Kind != b[k].Kind:
			return fmt.Errorf("%w: the field %q of kind %s beside %q of kind %s", formats.ErrSchema, b[k].Name, b[k].Kind, a[k].Name, a[k].Kind)
		case !slices.Equal(a[k].Classes, b[k].Classes):
			return fmt.Errorf("%w: the field %q has other classes, or another order of them", formats.ErrSchema, a[k].Name)
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

// part is where sample i is.
func (d *concatenation) part(i int) (k, at int) {
	k = sort.SearchInts(d.first, i+1) - 1
	return k, i - d.first[k]
}

func (d *concatenation) Meta() *formats.Meta { return &d.meta }
func (d *concatenation) Len() int            { return d.meta.Count }
func (d *concatenation) Close() error        { return nil }

// Identify implements formats.Identifier for the parts that have no checksums.
func (d *concatenation) Identify(w io.Writer) error {
	for _, p := range d.parts {
		if part, ok := p.(formats.Identifier); ok {
			if err := part.Identify(w); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *concatenation) Info(i int) (formats.Info, error) {
	k, at := d.part(i)
	return d.parts[k].Info(at)
}

func (d *concatenation) Read(i int, s *formats.Sample) error {
	k, at := d.part(i)
	return d.parts[k].Read(at, s)
}

func (d *concatenation) View(i int, s *formats.Sample) error {
	k, at := d.part(i)
	return d.views[k](at, s)
}

// Prefetch tells each part of its samples.
func (d *concatenation) Prefetch(indices []int32) {
	of := make([][]int32, len(d.parts))
	for _, i := range indices {
		k, at := d.part(int(i))
		of[k] = append(of[k], int32(at))
	}
	for k, p := range d.parts {
		if f, ok := p.(formats.Prefetcher); ok && len(of[k]) > 0 {
			f.Prefetch(of[k])
		}
	}
}
