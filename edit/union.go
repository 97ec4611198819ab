package edit

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/atrest"
)

// union is a dataset of samples of several datasets, in key order, under one schema. It is
// safe for concurrent use.
type union struct {
	meta   formats.Meta
	sources  []unionSource
	samples  []unionSample
	splits []string // by item, instead of the parts' own; nil for those

	removed []formats.Removed // by hand, in the order of keys
}

// part is a dataset that samples are taken from.
type unionSource struct {
	formats.Dataset
	ready   bool                    // its samples are as they are to be written
	field   []int                   // by field of the union: the part's
	classes [][]int64               // by field of the union: its index of each of the part's classes; nil if they are the same
	column  []int                   // by column of the union: the part's, -1 if it has none
	identical    bool                    // fields, classes and columns are the union's
	marks   *[16]uint16             // by bit of the part's marks: the union's; nil where the part's are not of interest
	origin  func(own uint16) uint16 // of its samples, from the part's own; nil for the same
}

// item is one sample: number index of a part, with what is changed of it.
type unionSample struct {
	source   int32
	index  int32
	change *change
}

// change is what a sample has instead of what its part says.
type change struct {
	labels  map[int]formats.Value // by field of the union
	split   *string
	columns map[int]string // by column of the union
	source  *formats.Source
	mark    *formats.Mark
}

var _ formats.Dataset = (*union)(nil)

func newPart(ds formats.Dataset, ready bool, meta *formats.Meta) unionSource {
	p := unionSource{Dataset: ds, ready: ready, identical: true}
	own := ds.Meta()
	for i, f := range meta.Schema {
		j := own.Schema.Index(f.Name)
		p.field = append(p.field, j)
		moved := mapClasses(own.Schema[j].Classes, f.Classes)
		p.classes = append(p.classes, moved)
		grown := f.Kind == formats.MultiHot && len(f.Classes) != len(own.Schema[j].Classes)
		p.identical = p.identical && i == j && moved == nil && !grown
	}
	for i, name := range meta.Columns {
		j := -1
		for k, c := range own.Columns {
			if c == name {
				j = k
			}
		}
		p.column = append(p.column, j)
		p.identical = p.identical && i == j
	}
	p.marks = mapMarks(own, meta, &p)
	return p
}

// movedClasses gives the index in to of each class of from, NoLabel for one that is not
// there; nil if all have the same.
func mapClasses(from, to []string) []int64 {
	index := classIndices(to)
	moved := make([]int64, len(from))
	same := true
	for i, name := range from {
		at, ok := index[name]
		if !ok {
			at = formats.NoLabel
		}
		moved[i] = at
		same = same && moved[i] == int64(i)
	}
	if same {
		return nil
	}
	return moved
}

// Meta describes the union.
func (u *union) Meta() *formats.Meta { return &u.meta }

// Len is the number of samples.
func (u *union) Len() int { return len(u.samples) }

// Close does nothing: the parts belong to the caller.
func (u *union) Close() error { return nil }

// ready says that sample i is as it is to be written.
func (u *union) ready(i int) bool { return u.sources[u.samples[i].source].ready }

// Removed implements formats.Removals.
func (u *union) Removed() ([]formats.Removed, error) { return u.removed, nil }

// Info tells what is known of sample i. Its Sum is that of the part's values.
func (u *union) Info(i int) (formats.Info, error) {
	it := &u.samples[i]
	p := &u.sources[it.source]
	in, err := p.Info(int(it.index))
	if err != nil {
		return in, err
	}
	if l := u.meta.Schema.LabelIndex(); l >= 0 && p.classes[l] != nil && in.Label >= 0 && in.Label < int64(len(p.classes[l])) {
		in.Label = p.classes[l][in.Label]
	}
	if !p.identical {
		in.Columns = p.mapColumns(in.Columns, nil)
	}
	in.Mark = p.mapMark(in.Mark)
	if u.splits != nil {
		in.Split = u.splits[i]
	}
	if it.change != nil {
		it.change.applyToInfo(&in, u.meta.Schema)
	}
	return in, nil
}

func (p *unionSource) mapColumns(own, to []string) []string {
	to = to[:0]
	for _, j := range p.column {
		if j < 0 {
			to = append(to, "")
		} else {
			to = append(to, own[j])
		}
	}
	return to
}

func (c *change) applyToInfo(in *formats.Info, schema formats.Schema) {
	if v, ok := c.labels[schema.LabelIndex()]; ok {
		if x, ok := v.Int64(); ok {
			in.Label = x
		}
	}
	if c.split != nil {
		in.Split = *c.split
	}
	if c.source != nil {
		in.Source = *c.source
	}
	if c.mark != nil {
		in.Mark = *c.mark
	}
	if len(c.columns) > 0 {
		in.Columns = append([]string(nil), in.Columns...)
		for j, text := range c.columns {
			in.Columns[j] = text
		}
	}
}

// Read fills s with sample i. A sample that is ready is compared with its checksum first,
// so that damage is not written anew under a fresh one.
func (u *union) Read(i int, s *formats.Sample) error {
	it := &u.samples[i]
	p := &u.sources[it.source]
	s.Mark = formats.Mark{} // a folder does not set it
	if err := p.Read(int(it.index), s); err != nil {
		return err
	}
	if p.ready && s.Sum != [16]byte{} && atrest.Sum(p.Meta().Schema, s) != s.Sum {
		return fmt.Errorf("key %q: %w: the bytes are not those that were written", s.Key, formats.ErrDamaged)
	}
	if !p.identical {
		if err := u.remap(p, s); err != nil {
			return err
		}
	}
	s.Mark = p.mapMark(s.Mark)
	if u.splits != nil {
		s.Split = u.splits[i]
	}
	if it.change != nil {
		it.change.applyToSample(s)
	}
	return nil
}

// remap puts the values of a part into the union's order and classes.
func (u *union) remap(p *unionSource, s *formats.Sample) error {
	own := append([]formats.Value(nil), s.Values...)
	for k, j := range p.field {
		s.Values[k] = own[j]
		if err := u.relabel(p, k, &s.Values[k]); err != nil {
			return fmt.Errorf("key %q: field %s: %w", s.Key, u.meta.Schema[k].Name, err)
		}
	}
	s.Columns = p.mapColumns(append([]string(nil), s.Columns...), s.Columns)
	return nil
}

func (u *union) relabel(p *unionSource, k int, v *formats.Value) error {
	switch f := &u.meta.Schema[k]; {
	case f.Kind == formats.Label && p.classes[k] != nil:
		x, ok := v.Int64()
		if !ok || x >= int64(len(p.classes[k])) {
			return fmt.Errorf("%w: the label is no class", formats.ErrDamaged)
		}
		if x >= 0 {
			v.SetInt64(p.classes[k][x])
		}
	case f.Kind == formats.MultiHot && (p.classes[k] != nil || len(v.Data) != len(f.Classes)):
		hot := make([]byte, len(f.Classes))
		for i, x := range v.Data {
			to := int64(i)
			if p.classes[k] != nil && i < len(p.classes[k]) {
				to = p.classes[k][i]
			}
			if x == 0 {
				continue
			}
			if to < 0 || to >= int64(len(hot)) {
				return fmt.Errorf("%w: %d classes of %d", formats.ErrDamaged, len(v.Data), len(hot))
			}
			hot[to] = x
		}
		v.Set(formats.Value{Data: hot, Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{len(hot)}})
	}
	return nil
}

func (c *change) applyToSample(s *formats.Sample) {
	for k, v := range c.labels {
		s.Values[k].Set(v)
	}
	if c.split != nil {
		s.Split = *c.split
	}
	if c.source != nil {
		s.Source = *c.source
	}
	if c.mark != nil {
		s.Mark = *c.mark
	}
	for j, text := range c.columns {
		s.Columns[j] = text
	}
}
