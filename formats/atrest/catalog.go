package atrest

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
)

// Catalog is what an open dataset knows without its data: dataset.json and the manifest,
// whose rows are in rank order. Formats embed it for three methods of formats.Dataset. It
// is safe for concurrent use.
type Description struct {
	Manifest *Manifest
	meta     *formats.Meta
}

// NewCatalog reads the manifest of the dataset that m describes. ErrDamaged if its keys are
// not what keys must be, or not in order, on which formats.Find relies.
func NewDescription(m *formats.Meta, manifest []byte) (Description, error) {
	t, err := ReadManifest(manifest, m.Columns)
	if err != nil {
		return Description{}, err
	}
	if t.Len() != m.Count {
		return Description{}, fmt.Errorf("%w: %d rows for %d samples", formats.ErrDamaged, t.Len(), m.Count)
	}
	if err := t.checkKeys(); err != nil {
		return Description{}, err
	}
	return Description{Manifest: t, meta: m}, nil
}

// Meta implements formats.Dataset.
func (c Description) Meta() *formats.Meta { return c.meta }

// Len implements formats.Dataset.
func (c Description) Len() int { return c.Manifest.Len() }

// Info implements formats.Dataset.
func (c Description) Info(i int) (formats.Info, error) { return c.Manifest.Info(i) }

// CheckSum compares a sample that was read with the checksum that the manifest has of it.
func (c Description) VerifyChecksum(s *formats.Sample) error {
	if s.Checksum != [16]byte{} && SampleChecksum(c.meta.Schema, s) != s.Checksum {
		return fmt.Errorf("%w: the checksum differs", formats.ErrDamaged)
	}
	return nil
}

// CheckLabel compares the designated label of row i, as its record has it, with the one that
// the manifest has.
func (c Description) VerifyLabel(i int, s *formats.Sample) error {
	k := c.meta.Schema.LabelIndex()
	if k < 0 || c.meta.Schema[k].Kind != formats.Label {
		return nil
	}
	if x, ok := s.Values[k].Int64(); !ok || x != c.Manifest.Label(i) {
		return fmt.Errorf("%w: the record has the label %d, the manifest %d", formats.ErrDamaged, x, c.Manifest.Label(i))
	}
	return nil
}
