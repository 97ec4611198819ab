package manifest

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
)

// Description is an open dataset's dataset.json and manifest, whose rows are in key order.
// Formats embed it for three methods of formats.Dataset. It is safe for concurrent use.
type Description struct {
	Manifest *Manifest
	meta     *formats.Meta
}

// NewDescription reads the manifest of the dataset that m describes. ErrDamaged if a key is
// invalid or the keys are not in order, which formats.Find relies on.
func NewDescription(m *formats.Meta, manifest []byte) (Description, error) {
	t := NewManifest(m.Columns)
	err := Read(manifest, m.Columns, func(r *Row) error {
		if err := t.Append(r); err != nil {
			return fmt.Errorf("%w: %w", formats.ErrDamaged, err)
		}
		return nil
	})
	if err != nil {
		return Description{}, err
	}
	if t.Len() != m.Count {
		return Description{}, fmt.Errorf("%w: it has %d rows, %s says %d samples", formats.ErrDamaged, t.Len(), MetaName, m.Count)
	}
	return Description{Manifest: t, meta: m}, nil
}

// Meta implements formats.Dataset.
func (c Description) Meta() *formats.Meta { return c.meta }

// Len implements formats.Dataset.
func (c Description) Len() int { return c.Manifest.Len() }

// Info implements formats.Dataset.
func (c Description) Info(i int) (formats.Info, error) { return c.Manifest.Info(i) }

// CheckRead returns an error if sample i cannot be read into s.
func (c Description) CheckRead(i int, s *formats.Sample) error {
	if s == nil {
		return fmt.Errorf("sample %d: there is nothing to read it into: the *formats.Sample is nil", i)
	}
	return c.Manifest.CheckIndex(i)
}

// VerifyChecksum compares a sample that was read with its checksum in the manifest.
func (c Description) VerifyChecksum(s *formats.Sample) error {
	if s.Checksum != [16]byte{} && checksum.SampleChecksum(c.meta.Schema, s) != s.Checksum {
		return fmt.Errorf("%w: the checksum of its values differs from the manifest's", formats.ErrDamaged)
	}
	return nil
}

// VerifyLabel compares the designated label in the record of row i with the manifest's.
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

// With returns c with another Meta, of the same number of samples.
func (c Description) With(m *formats.Meta) Description {
	c.meta = m
	return c
}

// Row returns row i after change, which may be nil, has altered it.
func (c Description) Row(i int, change func(*formats.Info)) (Row, error) {
	in, err := c.Manifest.Info(i)
	if err != nil {
		return Row{}, err
	}
	if change != nil {
		change(&in)
	}
	return Row{Info: in, Location: c.Manifest.Location(i)}, nil
}

// CopyRows appends all rows to t, after change has altered them.
func (c Description) CopyRows(t *Manifest, change func(*formats.Info)) error {
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
