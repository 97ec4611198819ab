package diff

import (
	"slices"

	"github.com/dsconv/dsconv/formats"
)

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
