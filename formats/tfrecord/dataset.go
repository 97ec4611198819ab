package tfrecord

import (
	"context"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/atrest"
)

// Dataset reads TFRecord files that a Writer wrote, from mapped memory.
type Dataset struct {
	records  *atrest.Records
	features []feature
}

var (
	_ formats.Dataset = (*Dataset)(nil)
	_ formats.Viewer  = (*Dataset)(nil)
	_ formats.Checker = (*Dataset)(nil)
)

// Open opens the files at path.
func (Format) Open(path string) (formats.Dataset, error) {
	r, err := atrest.OpenRecords(path)
	if err != nil {
		return nil, err
	}
	return &Dataset{records: r, features: layoutOf(r.Meta)}, nil
}

// Meta describes the dataset.
func (d *Dataset) Meta() *formats.Meta { return d.records.Meta }

// Len is the number of samples.
func (d *Dataset) Len() int { return d.records.Table.Len() }

// Info tells what the manifest has of sample i.
func (d *Dataset) Info(i int) (formats.Info, error) { return d.records.Table.Info(i) }

// Check compares the files with their checksums.
func (d *Dataset) Check(ctx context.Context, workers int, report func(formats.Damage)) error {
	sums, err := d.records.Sums()
	if err != nil {
		return err
	}
	return sums.Check(ctx, d.records.Dir(), 0, workers, report)
}

// Close unmaps the files.
func (d *Dataset) Close() error { return d.records.Close() }

// Read fills s with a copy of sample i. The frame's checksums are checked.
func (d *Dataset) Read(i int, s *formats.Sample) error { return d.read(i, s, false) }

// View fills s with sample i in mapped memory; labels and other integers alone are the
// caller's. Of the frame's checksums only the length's is checked: View does not touch the
// image's bytes.
func (d *Dataset) View(i int, s *formats.Sample) error { return d.read(i, s, true) }

func (d *Dataset) read(i int, s *formats.Sample, lend bool) error {
	rec, err := d.records.Record(i)
	if err != nil {
		return err
	}
	t := d.records.Table
	t.Fill(i, s)
	example, err := unframe(rec, !lend)
	if err == nil {
		err = decode(d.records.Meta.Schema, d.features, example, t.Shape(i), s, lend)
	}
	if err != nil {
		at := t.Place(i)
		return fmt.Errorf("key %q in %s at byte %d: %w", s.Key, d.records.Meta.Files[at.Shard], at.Offset, err)
	}
	return nil
}
