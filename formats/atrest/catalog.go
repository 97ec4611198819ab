package atrest

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
)

// Catalog is what an open dataset knows without its data: dataset.json and the manifest,
// whose rows are in rank order. Formats embed it for three methods of formats.Dataset. It
// is safe for concurrent use.
type Catalog struct {
	Table *Table
	meta  *formats.Meta
}

// NewCatalog reads the manifest of the dataset that m describes. ErrDamaged if its keys are
// not what keys must be, or not in order, on which formats.Find relies.
func NewCatalog(m *formats.Meta, manifest []byte) (Catalog, error) {
	t, err := ReadManifest(manifest, m.Columns)
	if err != nil {
		return Catalog{}, err
	}
	if t.Len() != m.Count {
		return Catalog{}, fmt.Errorf("%w: %d rows for %d samples", formats.ErrDamaged, t.Len(), m.Count)
	}
	if err := t.checkKeys(); err != nil {
		return Catalog{}, err
	}
	return Catalog{Table: t, meta: m}, nil
}

// Meta implements formats.Dataset.
func (c Catalog) Meta() *formats.Meta { return c.meta }

// Len implements formats.Dataset.
func (c Catalog) Len() int { return c.Table.Len() }

// Info implements formats.Dataset.
func (c Catalog) Info(i int) (formats.Info, error) { return c.Table.Info(i) }

// CheckSum compares a sample that was read with the checksum that the manifest has of it.
func (c Catalog) CheckSum(s *formats.Sample) error {
	if s.Sum != [16]byte{} && Sum(c.meta.Schema, s) != s.Sum {
		return fmt.Errorf("%w: the checksum differs", formats.ErrDamaged)
	}
	return nil
}

// CheckLabel compares the designated label of row i, as its record has it, with the one that
// the manifest has.
func (c Catalog) CheckLabel(i int, s *formats.Sample) error {
	k := c.meta.Schema.LabelIndex()
	if k < 0 || c.meta.Schema[k].Kind != formats.Label {
		return nil
	}
	if x, ok := s.Values[k].Int64(); !ok || x != c.Table.Label(i) {
		return fmt.Errorf("%w: the record has the label %d, the manifest %d", formats.ErrDamaged, x, c.Table.Label(i))
	}
	return nil
}

// With is c with another Meta, of as many samples.
func (c Catalog) With(m *formats.Meta) Catalog {
	c.meta = m
	return c
}

// Row is row i as change makes it, which may be nil.
func (c Catalog) Row(i int, change func(*formats.Info)) (Row, error) {
	in, err := c.Table.Info(i)
	if err != nil {
		return Row{}, err
	}
	if change != nil {
		change(&in)
	}
	return Row{Info: in, Place: c.Table.Place(i)}, nil
}

// Copy appends all rows to t, as changed.
func (c Catalog) Copy(t *Table, change func(*formats.Info)) error {
	for i := range c.Len() {
		r, err := c.Row(i, change)
		if err != nil {
			return err
		}
		if err := t.Append(&r); err != nil {
			return err
		}
	}
	return nil
}
