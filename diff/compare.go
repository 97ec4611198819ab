package diff

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/labels"
	"github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// described compares what Info has of a sample, without reading it.
func (c *comparison) described(a, b *formats.Info) []Difference {
	var list []Difference
	for _, p := range c.match.fields {
		if p.info {
			fa, fb := &c.a.Meta().Schema[p.a], &c.b.Meta().Schema[p.b]
			named := bothNamed(fa, fb)
			list = append(list, labelDifference(p.name, oneLabel(fa, a.Label, named), oneLabel(fb, b.Label, named))...)
		}
	}
	if a.Split != b.Split {
		list = append(list, Difference{Aspect: AspectSplit, From: listOf(a.Split), To: listOf(b.Split)})
	}
	for _, p := range c.match.columns {
		if x, y := a.Columns[p.a], b.Columns[p.b]; x != y {
			list = append(list, Difference{Aspect: AspectColumn, Field: p.name, From: listOf(x), To: listOf(y)})
		}
	}
	return list
}

func listOf(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// sameValues reports whether the checksums show that all values are equal. The bytes of raw pixels
// do not contain the shape, so it is compared too.
func (c *comparison) sameValues(a, b *formats.Info) bool {
	return c.match.sums && a.Checksum != [16]byte{} && a.Checksum == b.Checksum && a.Size == b.Size && a.Encoding == b.Encoding &&
		(!a.Encoding.IsRaw() || a.Shape == b.Shape)
}

// reader compares the values of samples. It belongs to one goroutine, which uses it for many samples.
type reader struct {
	*comparison
	dec    *codec.Decoder
	a, b   formats.Sample
	pa, pb pixel.Image
}

// values compares sample i of A and j of B, and reads them only if their checksums do not suffice.
func (r *reader) values(i, j int, a, b *formats.Info) ([]Difference, error) {
	// A sample without a checksum, of a folder, is read first: its checksum may suffice.
	readA, errA := r.sum(r.comparison.a, i, a, &r.a)
	readB, errB := r.sum(r.comparison.b, j, b, &r.b)
	if errA == nil && errB == nil {
		if r.sameValues(a, b) {
			return nil, nil
		}
		if !readA {
			errA = r.comparison.a.Read(i, &r.a)
		}
		if !readB {
			errB = r.comparison.b.Read(j, &r.b)
		}
	}
	if errA != nil || errB != nil {
		return unreadable(a, b, errA, errB)
	}
	return r.compare()
}

// unreadable reports that files of a sample could not be read. A sample of a dataset that has checksums lies with the
// others, so it is an error; so is one that all samples would have.
func unreadable(a, b *formats.Info, errA, errB error) ([]Difference, error) {
	d := Difference{Aspect: AspectUnreadable}
	for _, side := range []struct {
		name string
		of   *formats.Info
		err  error
		to   *[]string
	}{{"first", a, errA, &d.From}, {"second", b, errB, &d.To}} {
		switch err := side.err; {
		case err == nil:
		case side.of.Checksum != [16]byte{}, errors.Is(err, formats.ErrDamaged), errors.Is(err, formats.ErrClosed), pixel.EndsRun(err):
			return nil, fmt.Errorf("the %s dataset: %w", side.name, err)
		default:
			*side.to = []string{err.Error()}
		}
	}
	return []Difference{d}, nil
}

// sum reads sample i of ds if it has no checksum and completes its Info.
func (r *reader) sum(ds formats.Dataset, i int, in *formats.Info, s *formats.Sample) (read bool, err error) {
	if in.Checksum != [16]byte{} {
		return false, nil
	}
	if err := ds.Read(i, s); err != nil {
		return false, err
	}
	schema := ds.Meta().Schema
	img := &s.Values[schema.ImageIndex()]
	in.Checksum, in.Size, in.Encoding = checksum.SampleChecksum(schema, s), int64(len(img.Data)), img.Encoding
	return true, nil
}

func (r *reader) compare() ([]Difference, error) {
	var list []Difference
	for _, p := range r.match.fields {
		fa, fb := &r.comparison.a.Meta().Schema[p.a], &r.comparison.b.Meta().Schema[p.b]
		va, vb := &r.a.Values[p.a], &r.b.Values[p.b]
		switch {
		case p.info: // described compares it
		case p.sort == labelled:
			named := bothNamed(fa, fb)
			list = append(list, labelDifference(p.name, labelNames(fa, va, named), labelNames(fb, vb, named))...)
		case p.sort == pixels:
			found, err := r.images(p.name, fa.Kind, va, vb)
			if err != nil {
				return nil, err
			}
			list = append(list, found...)
		case !bytes.Equal(va.Data, vb.Data) || va.DType != vb.DType || !slices.Equal(va.Shape, vb.Shape):
			list = append(list, Difference{Aspect: AspectBytes, Field: p.name})
		}
	}
	return list, nil
}

// images compares two images or masks.
func (r *reader) images(name string, kind formats.Kind, a, b *formats.Value) ([]Difference, error) {
	var list []Difference
	switch {
	case a.Encoding != b.Encoding || !bytes.Equal(a.Data, b.Data):
		list = append(list, Difference{Aspect: AspectBytes, Field: name})
	case !a.Encoding.IsRaw() || a.DType == b.DType && slices.Equal(a.Shape, b.Shape):
		return nil, nil
	}
	o := codec.DecodeOptions{Color: pixel.ColorKeep, Indices: kind == formats.Mask}
	errA, errB := r.dec.Decode(&r.pa, a, o), r.dec.Decode(&r.pb, b, o)
	if err := errors.Join(errA, errB); pixel.EndsRun(err) {
		return nil, err
	}
	if (errA == nil) != (errB == nil) || errA == nil && !samePixels(&r.pa, &r.pb) {
		list = append(list, Difference{Aspect: AspectPixels, Field: name})
	}
	return list, nil
}

func samePixels(a, b *pixel.Image) bool {
	return a.H == b.H && a.W == b.W && a.C == b.C && a.DType == b.DType && bytes.Equal(a.Pix, b.Pix)
}

// labelNames are the classes that a value of a label field holds, sorted by name, or its number.
func labelNames(f *formats.Field, v *formats.Value, named bool) []string {
	switch f.Kind {
	case formats.Number:
		x, _ := v.Float32()
		return listOf(labels.FormatFloat(x))
	case formats.Label:
		x, _ := v.Int64()
		return oneLabel(f, x, named)
	}
	var names []string
	for i, hot := range v.Data {
		if hot != 0 {
			names = append(names, oneLabel(f, int64(i), named)...)
		}
	}
	slices.Sort(names)
	return names
}

// oneLabel is the name of a class, or its index if only one of the datasets has names.
func oneLabel(f *formats.Field, x int64, named bool) []string {
	switch {
	case x == formats.NoLabel:
		return nil
	case named && x >= 0 && x < int64(len(f.Classes)):
		return []string{f.Classes[x]}
	}
	return []string{strconv.FormatInt(x, 10)}
}

// labelDifference compares two lists of classes.
func labelDifference(name string, from, to []string) []Difference {
	if slices.Equal(from, to) {
		return nil
	}
	return []Difference{{Aspect: AspectLabel, Field: name, From: from, To: to}}
}

// bothNamed reports whether classes can be compared by name.
func bothNamed(a, b *formats.Field) bool { return len(a.Classes) > 0 && len(b.Classes) > 0 }

// OneSided is the names of fields and columns that only one of two datasets has. They are not compared.
type OneSided struct {
	Fields  []string `json:"fields,omitempty"`
	Columns []string `json:"columns,omitempty"`
}

// empty reports whether there are none.
func (l OneSided) empty() bool { return len(l.Fields)+len(l.Columns) == 0 }

// oneSided returns the fields and columns that only one of two datasets has.
func (c *comparison) oneSided(a, b *formats.Meta) (onlyA, onlyB OneSided) {
	var inA, inB []string
	for _, p := range c.match.fields {
		inA, inB = append(inA, a.Schema[p.a].Name), append(inB, b.Schema[p.b].Name)
	}
	onlyA.Fields, onlyB.Fields = missing(a.Schema.Names(), inA), missing(b.Schema.Names(), inB)
	onlyA.Columns, onlyB.Columns = missing(a.Columns, b.Columns), missing(b.Columns, a.Columns)
	return onlyA, onlyB
}

// missing returns the names that are not in some.
func missing(names, some []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(some, name) })
}

// match is which fields and columns of two datasets are compared with each other. Two fields match if
// they have the same name and are of the same sort: pixels, labels or anything else. The names of the
// designated image and the designated label may differ.
type match struct {
	fields  []pair
	columns []pair
	// sums: equal checksums of a sample mean equal values.
	sums bool
}

// pair is the index of a field or column in A and that in B of the one it is compared with.
type pair struct {
	a, b int
	name string // "" for the designated image and label
	sort sort
	// info: both are in Info, as the designated labels are if they are one index each.
	info bool
}

// sort determines how two values are compared.
type sort int

const (
	other sort = iota
	pixels
	labelled
)

func sortOf(k formats.Kind) sort {
	switch {
	case k == formats.Image || k == formats.Mask:
		return pixels
	case k.IsLabel():
		return labelled
	}
	return other
}

func matchOf(a, b *formats.Meta) match {
	m := match{fields: matchFields(a.Schema, b.Schema)}
	for i, name := range a.Columns {
		if j := slices.Index(b.Columns, name); j >= 0 {
			m.columns = append(m.columns, pair{a: i, b: j, name: name})
		}
	}
	m.sums = m.comparable(a.Schema, b.Schema)
	return m
}

func matchFields(a, b formats.Schema) []pair {
	var pairs []pair
	for i, f := range a {
		if j := b.Index(f.Name); j >= 0 && sortOf(f.Kind) == sortOf(b[j].Kind) {
			pairs = append(pairs, pair{a: i, b: j, name: f.Name})
		}
	}
	designated := func(i, j int) {
		taken := func(p pair) bool { return p.a == i || p.b == j }
		if i >= 0 && j >= 0 && !slices.ContainsFunc(pairs, taken) {
			pairs = append(pairs, pair{a: i, b: j, name: a[i].Name})
		}
	}
	designated(a.ImageIndex(), b.ImageIndex())
	designated(a.LabelIndex(), b.LabelIndex())
	slices.SortFunc(pairs, func(p, q pair) int { return p.a - q.a })
	for k := range pairs {
		p := &pairs[k]
		p.sort = sortOf(a[p.a].Kind)
		label := p.a == a.LabelIndex() && p.b == b.LabelIndex()
		p.info = label && a[p.a].Kind == formats.Label && b[p.b].Kind == formats.Label
		if label || p.a == a.ImageIndex() && p.b == b.ImageIndex() {
			p.name = ""
		}
	}
	return pairs
}

// comparable reports whether the checksums of A and B cover the same fields in the same
// order, with the same class indices.
func (m match) comparable(a, b formats.Schema) bool {
	x, y := summed(a), summed(b)
	return slices.EqualFunc(x, y, func(i, j int) bool {
		paired := slices.ContainsFunc(m.fields, func(p pair) bool { return p.a == i && p.b == j })
		return paired && a[i].Kind == b[j].Kind && (sortOf(a[i].Kind) != labelled || slices.Equal(a[i].Classes, b[j].Classes))
	})
}

// summed is the fields that the checksum of a sample covers (see checksum.SampleChecksum).
func summed(s formats.Schema) []int {
	var list []int
	for i, f := range s {
		if i != s.LabelIndex() || f.Kind != formats.Label {
			list = append(list, i)
		}
	}
	return list
}
