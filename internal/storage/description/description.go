// Package description has what an open dataset knows of its samples without its data: [Description].
// [ValueReader] reads samples of formats that locate values themselves.
package description

import (
	"context"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/indexfile"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
)

// Description is an open dataset's dataset.json and index. Formats embed it for methods of
// formats.Dataset. It is safe for concurrent use, until CloseIndex.
type Description struct {
	index *indexfile.File
	meta  *formats.Meta
}

// New returns the Description with that index, which CloseIndex closes.
func New(m *formats.Meta, index *indexfile.File) Description { return Description{index, m} }

// Meta implements formats.Dataset.
func (c Description) Meta() *formats.Meta { return c.meta }

// Len implements formats.Dataset.
func (c Description) Len() int { return c.meta.Count }

// Index returns the index of the samples, whose memory is the dataset's.
func (c Description) Index() *sampleindex.Index { return c.index.Index }

// Labels is that of the index, for the reader.
func (c Description) Labels() (data []byte, stride int, err error) { return c.index.Labels() }

// Members is that of the index, for the reader.
func (c Description) Members(split string) (indices []int32, all, ok bool, err error) {
	return c.index.Members(split)
}

// CloseIndex frees the index's memory.
func (c Description) CloseIndex() error { return c.index.Close() }

// CheckRead returns an error if there is no sample i.
func (c Description) CheckRead(i int) error {
	if i < 0 || i >= c.Len() {
		return fmt.Errorf("index %d out of range: the dataset has %d samples", i, c.Len())
	}
	return nil
}

// VerifyChecksum compares a sample that was read with its checksum in the index.
func (c Description) VerifyChecksum(s *formats.Sample) error {
	if s.Checksum != [16]byte{} && checksum.SampleChecksum(c.meta.Schema, s) != s.Checksum {
		return fmt.Errorf("%w: the checksum of its values differs from the manifest's", formats.ErrDamaged)
	}
	return nil
}

// VerifyLabel compares the designated label in the record of a sample with that of its row.
func (c Description) VerifyLabel(e sampleindex.Entry, s *formats.Sample) error {
	k := c.meta.Schema.LabelIndex()
	if k < 0 || c.meta.Schema[k].Kind != formats.Label {
		return nil
	}
	if x, ok := s.Values[k].Int64(); !ok || x != e.Label() {
		return fmt.Errorf("%w: the record has the label %d, the manifest %d", formats.ErrDamaged, x, e.Label())
	}
	return nil
}

// CheckIndex reports whether the whole index is what its checksums say.
func (c Description) CheckIndex(ctx context.Context) (whole bool, err error) {
	whole = true
	err = c.index.Check(ctx, func(formats.Damage) { whole = false })
	return whole && err == nil, err
}

// maxDifferent is how many rows CheckRows reports: all may differ.
const maxDifferent = 10

// CheckRows compares rows with the index, and reports the first of those that differ; located: they have
// the locations that the index has. Errors are of rows, also that ctx ended.
func (c Description) CheckRows(ctx context.Context, rows sampleindex.Rows, located bool, report func(error)) error {
	i, different := 0, 0
	err := rows(func(r *sampleindex.Row) error {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := c.index.Compare(i, r, located); err != nil {
			if different++; different <= maxDifferent {
				report(err)
			}
		}
		i++
		return nil
	})
	if different > maxDifferent {
		report(fmt.Errorf("%w: %d more samples differ from the index", formats.ErrDamaged, different-maxDifferent))
	}
	return err
}

// Row returns the row of sample i after change, which may be nil, has altered it.
func (c Description) Row(i int, change func(*formats.Info)) (sampleindex.Row, error) {
	e, err := c.index.At(i)
	if err != nil {
		return sampleindex.Row{}, err
	}
	in, err := c.index.Info(i)
	if err == nil && change != nil {
		change(&in)
	}
	return sampleindex.Row{Info: in, Location: e.Location()}, err
}

// EachRow calls yield with the row of each sample after change, which may be nil, has altered it.
func (c Description) EachRow(change func(*formats.Info), yield func(r *sampleindex.Row) error) error {
	for i := range c.Len() {
		r, err := c.Row(i, change)
		if err != nil {
			return err
		}
		if err := yield(&r); err != nil {
			return err
		}
	}
	return nil
}
