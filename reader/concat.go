package reader

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/dsconv/dsconv/formats"
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
		l.samples = joinOf(samples...)
		for _, s := range samples {
			l.parts += fmt.Sprintf("; %s", s)
		}
		return l.takeSamples()
	})
}

// selectParts returns the samples of each part.
func selectParts(parts []Part, keep func(formats.Info) bool) (samples []subset, err error) {
	samples = make([]subset, len(parts))
	for k, p := range parts {
		if samples[k], err = selectSamples(p.Dataset, p.Splits, keep); err != nil {
			return nil, fmt.Errorf("%s: %w", nameOf(parts, k), err)
		}
	}
	return samples, nil
}

// concatenation is several datasets as one, for the Loader alone: its keys are not in order.
type concatenation struct {
	datasets []formats.Dataset
	names    []string
	views    []func(i int, s *formats.Sample) error
	first    []int   // index of each dataset's first sample
	columns  [][]int // where each dataset has the columns of meta; nil if it has no others
	meta     formats.Meta
}

func concatenate(parts []Part) (*concatenation, error) {
	all := &concatenation{}
	for k := range parts {
		if err := all.append(parts, k); err != nil {
			return nil, err
		}
	}
	for _, d := range all.datasets {
		all.columns = append(all.columns, placesOf(all.meta.Columns, d.Meta().Columns))
	}
	return all, nil
}

// append adds the dataset of part k.
func (d *concatenation) append(parts []Part, k int) error {
	one := parts[k].Dataset
	m := one.Meta()
	if k == 0 {
		d.meta = *m
		d.meta.Schema, d.meta.Columns = slices.Clone(m.Schema), slices.Clone(m.Columns)
		d.meta.Splits, d.meta.Files, d.meta.Count = nil, nil, 0
		d.meta.Stats.Bytes = 0 // added below
	} else if err := joinSchemas(d.meta.Schema, m.Schema); err != nil {
		return fmt.Errorf("%s and %s differ: %w", nameOf(parts, k), nameOf(parts, 0), err)
	}
	d.meta.Columns = slices.DeleteFunc(d.meta.Columns, func(name string) bool { return !slices.Contains(m.Columns, name) })
	d.meta.Splits = addSplits(d.meta.Splits, m.Splits)
	d.meta.Stats = joinStats(d.meta.Stats, m.Stats)
	if k > 0 {
		d.meta.PixelStats = nil // the first's alone
	}
	view := one.Read
	if v, ok := one.(formats.Viewer); ok {
		view = v.View
	}
	d.datasets, d.names, d.views = append(d.datasets, one), append(d.names, nameOf(parts, k)), append(d.views, view)
	d.first = append(d.first, d.meta.Count)
	if d.meta.Count += one.Len(); d.meta.Count > math.MaxInt32 {
		return fmt.Errorf("the datasets up to %s have %d samples: at most %d are supported", nameOf(parts, k), d.meta.Count, math.MaxInt32)
	}
	return nil
}

// joinStats are the Stats of what a and b are of, as one. They may differ in more than size: it is not Uniform.
func joinStats(a, b formats.Stats) formats.Stats {
	return formats.Stats{
		Bytes:     a.Bytes + b.Bytes,
		MinHeight: min(a.MinHeight, b.MinHeight), MinWidth: min(a.MinWidth, b.MinWidth),
		MaxHeight: max(a.MaxHeight, b.MaxHeight), MaxWidth: max(a.MaxWidth, b.MaxWidth),
	}
}

// nameOf is the name of part k in errors.
func nameOf(parts []Part, k int) string { return cmp.Or(parts[k].Name, fmt.Sprintf("dataset %d", k)) }

// addSplits adds the counts of the splits in more to those in sum.
func addSplits(sum, more []formats.Split) []formats.Split {
	for _, s := range more {
		k := slices.IndexFunc(sum, func(have formats.Split) bool { return have.Name == s.Name })
		if k < 0 {
			sum = append(sum, s)
		} else {
			sum[k].Count += s.Count
		}
	}
	return sum
}

// placesOf returns where have has the columns of wanted, or nil if it is equal to wanted.
func placesOf(wanted, have []string) []int {
	if slices.Equal(wanted, have) {
		return nil
	}
	places := make([]int, len(wanted))
	for k, name := range wanted {
		places[k] = slices.Index(have, name)
	}
	return places
}

// joinSchemas reduces a to what a and b have in common. It fails if that is less than a batch needs.
func joinSchemas(a, b formats.Schema) error {
	if len(a) != len(b) {
		return fmt.Errorf("%w: the fields are %q and %q", formats.ErrSchema, fieldNames(b), fieldNames(a))
	}
	for k := range a {
		if a[k].Name != b[k].Name || a[k].Kind != b[k].Kind {
			return fmt.Errorf("%w: field %q of kind %s and field %q of kind %s", formats.ErrSchema, b[k].Name, b[k].Kind, a[k].Name, a[k].Kind)
		}
		if err := sameClasses(a[k].Classes, b[k].Classes); err != nil {
			return fmt.Errorf("%w: the classes of field %q: %w", formats.ErrSchema, a[k].Name, err)
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

// sameClasses returns an error that names the first class that differs.
func sameClasses(a, b []string) error {
	for k := range min(len(a), len(b)) {
		if a[k] != b[k] {
			return fmt.Errorf("class %d is %q and %q", k, b[k], a[k])
		}
	}
	if len(a) != len(b) {
		return fmt.Errorf("there are %d and %d", len(b), len(a))
	}
	return nil
}

// locate returns the dataset of sample i, and its index in it.
func (d *concatenation) locate(i int) (k, index int) {
	k = sort.SearchInts(d.first, i+1) - 1
	return k, i - d.first[k]
}

// inPart adds the name of the dataset that sample i is in to its error, if there are several.
func (l *Loader) inPart(i int, err error) error {
	if d, ok := l.dataset.(*concatenation); ok {
		k, _ := d.locate(i)
		err = fmt.Errorf("%s: %w", d.names[k], err)
	}
	return err
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
	in, err := d.datasets[k].Info(index)
	if places := d.columns[k]; places != nil && err == nil {
		own := in.Columns
		in.Columns = make([]string, len(places))
		for c, place := range places {
			if place < len(own) {
				in.Columns[c] = own[place]
			}
		}
	}
	return in, err
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
