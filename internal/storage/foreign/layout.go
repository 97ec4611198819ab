package foreign

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/labels"
	"github.com/dsconv/dsconv/internal/storage/filestate"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
)

// plan is how the samples of a scan become rows of an index.
type plan struct {
	source  *Source
	files   []filestate.State
	found   *found
	layout  *Layout
	labels  map[string]int64 // of the classes
	slot    []int            // of each column: the position in Row.Fields, -1 for none
	fields  int
	columns [][]int // of each position in Row.Fields
	image   []int   // columns
	skips   []skip
}

// plan decides what the rows are.
func (s *Source) plan(f *found, files []filestate.State) (*plan, error) {
	l, err := s.Layout(&f.Found)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Path, err)
	}
	p := &plan{source: s, files: files, found: f, layout: l, labels: map[string]int64{}, slot: slices.Repeat([]int{-1}, len(f.Columns)), skips: f.skips}
	if err := p.nameClasses(); err != nil {
		return nil, err
	}
	if err := l.Schema.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Path, err)
	}
	for k, field := range l.Fields {
		switch {
		case len(field.Columns) == 0:
			continue
		case k == l.Schema.ImageIndex():
			p.image = field.Columns
			continue
		}
		for _, c := range field.Columns {
			p.slot[c] = p.fields
		}
		p.columns = append(p.columns, field.Columns)
		p.fields++
	}
	return p, nil
}

// nameClasses numbers the classes of the samples, and names them in the schema.
func (p *plan) nameClasses() error {
	k := p.layout.Schema.LabelIndex()
	if k < 0 || len(p.layout.Fields[k].Columns) > 0 {
		return nil
	}
	field := &p.layout.Schema[k]
	switch {
	case p.found.Classed > 0 && field.Classes == nil:
		var err error
		if field.Classes, p.labels, err = labels.ClassesOf(slices.Sorted(maps.Keys(p.found.Classes))); err != nil {
			return fmt.Errorf("%s: %w: %w: name another label by a map, or give this one the name of another field, such as target=cls",
				p.source.Path, formats.ErrSchema, err)
		}
	case p.found.Classed > 0:
		p.labels = labels.IndexOf(field.Classes)
	}
	if err := field.NumberClasses(p.found.highest); err != nil {
		return fmt.Errorf("%s: %w", p.source.Path, err)
	}
	return nil
}

// Numbered returns the names of n classes that are named by their index.
func Numbered(n int) []string {
	var f formats.Field
	_ = f.NumberClasses(int64(min(n, formats.MaxClasses)) - 1)
	return f.Classes
}

// rows calls yield with the row of each sample that has what it needs; note takes the others.
func (p *plan) rows(note func(skip)) sampleindex.Rows {
	return func(yield func(r *sampleindex.Row) error) error {
		var r sampleindex.Row
		return p.found.each(func(one *Sample, _ bool) error {
			if missing := p.fill(&r, one); missing != "" {
				note(skip{Path: r.Source.Path, Cause: "it has no " + missing})
				return nil
			}
			return yield(&r)
		})
	}
}

// fill makes r the row of a sample, and returns the name of a field that it needs and has not.
func (p *plan) fill(r *sampleindex.Row, one *Sample) (missing string) {
	*r = sampleindex.Row{Fields: r.Fields[:0]}
	r.Key, r.Split, r.Label, r.Columns = one.Key, one.Split, formats.NoLabel, one.Columns
	if r.Source.Path = one.Path; r.Source.Path == "" {
		r.Source.Path = one.Key
	}
	r.Source.ModTime = p.files[one.File].Identity().ModTime
	for range p.fields {
		r.Fields = append(r.Fields, sampleindex.Location{Offset: -1})
	}
	r.Location = sampleindex.Location{Shard: one.File, Offset: -1}
	for _, v := range one.Values {
		switch slot := p.slot[v.Column]; {
		case len(p.image) > 0 && v.Column == one.first(p.image):
			r.Location.Offset, r.Location.Length = v.Offset, v.Length
			r.Size, r.Encoding, r.Shape = cmp.Or(v.Size, v.Length), v.Encoding, v.Shape
			r.Source.Size = r.Size
		case slot >= 0 && v.Column == one.first(p.columns[slot]):
			r.Fields[slot] = sampleindex.Location{Offset: v.Offset, Length: v.Length}
		}
	}
	if r.Location.Offset < 0 {
		return p.layout.Schema[p.layout.Schema.ImageIndex()].Name
	}
	if label, ok := p.labels[one.Class]; ok {
		r.Label = label
	} else if len(p.labels) == 0 {
		r.Label = max(one.Label, formats.NoLabel)
	}
	for k, f := range p.layout.Schema {
		if columns := p.layout.Fields[k].Columns; len(columns) > 0 && !hasDefault(f.Kind) && one.first(columns) < 0 {
			return f.Name
		}
	}
	return ""
}

// first returns the first of the columns that the sample has a value of, -1 if it has none.
func (s *Sample) first(columns []int) int {
	for _, c := range columns {
		for i := range s.Values {
			if s.Values[i].Column == c {
				return c
			}
		}
	}
	return -1
}

// hasDefault reports whether a sample may lack a field of that kind: see lendDefault.
func hasDefault(k formats.Kind) bool {
	return k == formats.Text || k == formats.Bytes || k == formats.JSON || k == formats.Number
}
