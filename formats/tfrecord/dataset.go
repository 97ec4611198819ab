package tfrecord

import (
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/atrest"
)

// Dataset reads TFRecord files that a Writer wrote, from mapped memory.
type Dataset struct {
	*atrest.Records
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
	return &Dataset{Records: r, features: layoutOf(r.Meta())}, nil
}

// Read fills s with a copy of sample i. The frame's checksums are checked.
func (d *Dataset) Read(i int, s *formats.Sample) error { return d.read(i, s, false) }

// View fills s with sample i in mapped memory; labels and other integers alone are the
// caller's. Of the frame's checksums only the length's is checked: View does not touch the
// image's bytes.
func (d *Dataset) View(i int, s *formats.Sample) error { return d.read(i, s, true) }

func (d *Dataset) read(i int, s *formats.Sample, lend bool) error {
	rec, err := d.Record(i)
	if err != nil {
		return err
	}
	d.Table.Fill(i, s)
	example, err := unframe(rec, !lend)
	if err == nil {
		err = decode(d.Meta().Schema, d.features, example, d.Table.Shape(i), s, lend)
	}
	if err != nil {
		return d.Wrap(i, err)
	}
	return nil
}
