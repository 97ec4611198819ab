package edit

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"math/bits"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
)

// union is a dataset of samples from several datasets, in key order, with one schema. It is safe for
// concurrent use.
type union struct {
	meta    formats.Meta
	sources []unionSource
	samples []unionSample
	splits  []string // by sample; nil means the sources' own
	// old has the target's sample by sample, for those that are replaced and go back to it if the new one is bad.
	old map[int]int32

	removed []formats.RemovedSample // samples removed by hand, by key
}

// unionSource is one of the datasets that a union has samples of.
type unionSource struct {
	formats.Dataset
	ready     bool                    // its samples are copied without processing
	field     []int                   // by field of the union: the source's
	classes   [][]int64               // by field of the union: the union's index of each of the source's classes; nil if equal
	column    []int                   // by column of the union: the source's, or -1
	identical bool                    // fields, classes and columns equal the union's
	marks     *[16]uint16             // by bit of the source's marks: the union's; nil if the source's marks are ignored
	origin    func(own uint16) uint16 // converts the source's origins; nil if equal
}

// unionSample is one sample: its source, its index there, and its change or nil.
type unionSample struct {
	source int32
	index  int32
	change *change
}

// change has the values that replace those of a sample's source; nil fields replace nothing.
type change struct {
	labels  map[int]formats.Value // by field of the union
	split   *string
	columns map[int]string // by column of the union
	source  *formats.Source
	mark    *formats.Provenance
}

var _ formats.Dataset = (*union)(nil)

func newUnionSource(ds formats.Dataset, ready bool, meta *formats.Meta) unionSource {
	return newUnionSourceAs(ds, ds.Meta(), ready, meta)
}

// newUnionSourceAs is newUnionSource for a dataset whose classes have the names in own.
func newUnionSourceAs(ds formats.Dataset, own *formats.Meta, ready bool, meta *formats.Meta) unionSource {
	p := unionSource{Dataset: ds, ready: ready, identical: true}
	for i, f := range meta.Schema {
		j := own.Schema.Index(f.Name)
		p.field = append(p.field, j)
		moved := mapClasses(own.Schema[j].Classes, f.Classes)
		p.classes = append(p.classes, moved)
		grown := f.Kind == formats.MultiHot && len(f.Classes) != len(own.Schema[j].Classes)
		p.identical = p.identical && i == j && moved == nil && !grown
	}
	for i, name := range meta.Columns {
		j := slices.Index(own.Columns, name)
		p.column = append(p.column, j)
		p.identical = p.identical && i == j
	}
	p.marks = mapMarks(own, meta, &p)
	return p
}

// Meta returns the union's metadata.
func (u *union) Meta() *formats.Meta { return &u.meta }

// Len returns the number of samples.
func (u *union) Len() int { return len(u.samples) }

// Close does nothing: the sources belong to the caller.
func (u *union) Close() error { return nil }

// setOld makes the target's sample the one that useOld goes back to.
func (u *union) setOld(i, target int32) {
	if u.old == nil {
		u.old = map[int]int32{}
	}
	u.old[int(i)] = target
}

// useOld replaces sample i by the target's, if it has one. Nobody else may use sample i meanwhile.
func (u *union) useOld(i int) bool {
	old, ok := u.old[i]
	if ok {
		u.samples[i] = unionSample{source: 0, index: old}
	}
	return ok
}

// ready reports whether sample i is copied without processing.
func (u *union) ready(i int) bool { return u.sources[u.samples[i].source].ready }

// allReady reports whether all samples are.
func (u *union) allReady() bool {
	return !slices.ContainsFunc(u.samples, func(it unionSample) bool { return !u.sources[it.source].ready })
}

// Removed implements formats.Removals.
func (u *union) Removed() ([]formats.RemovedSample, error) { return u.removed, nil }

// Info implements formats.Dataset. The Checksum is that of the source's values.
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
	in.Provenance = p.mapMark(in.Provenance)
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
	if len(c.columns) > 0 {
		in.Columns = slices.Clone(in.Columns)
	}
	c.applyRest(&in.Split, &in.Source, &in.Provenance, in.Columns)
}

func (c *change) applyToSample(s *formats.Sample) {
	for k, v := range c.labels {
		s.Values[k].Set(v)
	}
	c.applyRest(&s.Split, &s.Source, &s.Provenance, s.Columns)
}

// applyRest applies c except the labels.
func (c *change) applyRest(split *string, source *formats.Source, mark *formats.Provenance, columns []string) {
	if c.split != nil {
		*split = *c.split
	}
	if c.source != nil {
		*source = *c.source
	}
	if c.mark != nil {
		*mark = *c.mark
	}
	for j, text := range c.columns {
		columns[j] = text
	}
}

// Read implements formats.Dataset. A ready sample is compared with its checksum first, so that
// damaged data does not get a new checksum.
func (u *union) Read(i int, s *formats.Sample) error {
	it := &u.samples[i]
	p := &u.sources[it.source]
	s.Provenance = formats.Provenance{} // a folder does not set it
	if err := p.Read(int(it.index), s); err != nil {
		return err
	}
	s.Resize(len(s.Values)) // they may be the source's
	s.SetColumns(s.Columns...)
	if p.ready && s.Checksum != [16]byte{} && checksum.SampleChecksum(p.Meta().Schema, s) != s.Checksum {
		return fmt.Errorf("key %q: %w: its bytes do not match their checksum", s.Key, formats.ErrDamaged)
	}
	if !p.identical {
		if err := u.remap(p, s); err != nil {
			return err
		}
	}
	s.Provenance = p.mapMark(s.Provenance)
	if u.splits != nil {
		s.Split = u.splits[i]
	}
	if it.change != nil {
		it.change.applyToSample(s)
	}
	return nil
}

// remap converts the values of a source's sample to the union's fields, classes and columns.
func (u *union) remap(p *unionSource, s *formats.Sample) error {
	own := slices.Clone(s.Values)
	for k, j := range p.field {
		s.Values[k] = own[j]
		if err := u.mapLabel(p, k, &s.Values[k]); err != nil {
			return fmt.Errorf("key %q: field %s: %w", s.Key, u.meta.Schema[k].Name, err)
		}
	}
	s.Columns = p.mapColumns(slices.Clone(s.Columns), s.Columns)
	return nil
}

// LabelSum returns a checksum of all labels of sample i, whose Info is in, also those that are not in it. An
// interrupted edit is resumed only if they have not changed.
func (u *union) LabelSum(i int, in *formats.Info) int64 {
	it := &u.samples[i]
	p := &u.sources[it.source]
	sum := in.Label
	if d, ok := p.Dataset.(interface {
		LabelSum(i int, in *formats.Info) int64
	}); ok {
		own, err := p.Info(int(it.index))
		if err != nil {
			return formats.NoLabel // reading the sample reports the error
		}
		if s := d.LabelSum(int(it.index), &own); s != own.Label {
			sum = s
		}
	}
	if it.change != nil {
		sum ^= it.change.labelSum(u.meta.Schema)
	}
	return sum
}

// labelSum returns a checksum of the changed labels that are not in Info, 0 if there are none.
func (c *change) labelSum(schema formats.Schema) int64 {
	h := fnv.New64a()
	empty := h.Sum64()
	for _, k := range slices.Sorted(maps.Keys(c.labels)) {
		if k == schema.LabelIndex() && schema[k].Kind == formats.Label {
			continue
		}
		_ = binary.Write(h, binary.LittleEndian, int64(k)) // a hash never fails
		_, _ = h.Write(c.labels[k].Data)
	}
	return int64(h.Sum64() ^ empty)
}

// mapMarks returns, for each bit of a mark in the dataset own, the bit of the same field or column
// in meta.
func mapMarks(own, meta *formats.Meta, p *unionSource) *[16]uint16 {
	var to [16]uint16
	move := func(from, bit uint16) { to[bits.TrailingZeros16(from)] |= bit }
	move(formats.EditedSplit, formats.EditedSplit)
	for k, j := range p.field {
		move(own.EditedField(j), meta.EditedField(k))
	}
	for k, j := range p.column {
		if j >= 0 {
			move(own.EditedColumn(j), meta.EditedColumn(k))
		}
	}
	return &to
}

// mapMark converts the mark of a sample of p to the union's bits and origins.
func (p *unionSource) mapMark(own formats.Provenance) formats.Provenance {
	if p.marks == nil {
		own.Edited = 0
	}
	if p.origin != nil {
		own.Origin = p.origin(own.Origin)
	}
	if own.Edited == 0 || p.identical {
		return own
	}
	edited := own.Edited
	own.Edited = 0
	for ; edited != 0; edited &= edited - 1 {
		own.Edited |= p.marks[bits.TrailingZeros16(edited)]
	}
	return own
}

// countEdits sets the union's History from the marks of its samples.
func (u *union) countEdits() error {
	h := formats.History{Removed: len(u.removed)}
	for i := range u.samples {
		in, err := u.Info(i)
		if err != nil {
			return err
		}
		if in.Provenance.Edited != 0 {
			h.Edited++
		}
		h.Origins = max(h.Origins, int(in.Provenance.Origin))
	}
	u.meta.History = nil
	if h != (formats.History{}) {
		u.meta.History = &h
	}
	return nil
}

// edited returns the mark bits of the fields and columns that c sets.
func (c *change) edited(meta *formats.Meta) (bits uint16) {
	if c.split != nil {
		bits |= formats.EditedSplit
	}
	for k := range c.labels {
		bits |= meta.EditedField(k)
	}
	for j := range c.columns {
		bits |= meta.EditedColumn(j)
	}
	return bits
}

// drop removes from c the fields and columns of those bits, and reports whether there were any.
func (c *change) drop(bits uint16, meta *formats.Meta) (any bool) {
	if c.edited(meta)&bits == 0 {
		return false
	}
	if bits&formats.EditedSplit != 0 {
		c.split = nil
	}
	maps.DeleteFunc(c.labels, func(k int, _ formats.Value) bool { return bits&meta.EditedField(k) != 0 })
	maps.DeleteFunc(c.columns, func(j int, _ string) bool { return bits&meta.EditedColumn(j) != 0 })
	return true
}
