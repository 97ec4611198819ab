package tfrecord

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/internal/storage/tfexample"
)

// dataset reads TFRecord files that a Writer wrote, from mapped memory.
type dataset struct {
	*sharded.Records
	features []feature
}

var (
	_ formats.Dataset = (*dataset)(nil)
	_ formats.Viewer  = (*dataset)(nil)
	_ formats.Checker = (*dataset)(nil)

	_ formats.Salvager = Format{}

	_ formats.Prefetcher     = (*dataset)(nil)
	_ formats.StorageOrdered = (*dataset)(nil)
)

// Open opens the files at path.
func (Format) Open(path string) (formats.Dataset, error) { return open(path, sharded.OpenRecords) }

// Salvage implements formats.Salvager.
func (Format) Salvage(path string) (formats.Dataset, error) {
	return open(path, sharded.SalvageRecords)
}

func open(path string, records func(path string) (*sharded.Records, error)) (formats.Dataset, error) {
	r, err := records(path)
	if err != nil {
		return nil, err
	}
	if err := r.CheckFormat(Format{}.Name()); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return &dataset{Records: r, features: layoutOf(r.Meta())}, nil
}

// Read fills s with a copy of sample i. It verifies the frame's and the sample's checksums.
func (d *dataset) Read(i int, s *formats.Sample) error {
	return d.ReadRecord(i, func(e sampleindex.Entry, rec []byte) error {
		return guard.Do(func() error {
			if err := d.fill(e, rec, s, false); err != nil {
				return err
			}
			return d.VerifyChecksum(s)
		})
	})
}

// View fills s with sample i in mapped memory; only labels and other integers are copied. It
// verifies only the checksum of the frame's length, since it does not touch the image's bytes.
func (d *dataset) View(i int, s *formats.Sample) error {
	return d.ViewRecord(i, func(e sampleindex.Entry, rec []byte) error { return d.fill(e, rec, s, true) })
}

// fill sets s to the sample of row e, decoded from its record.
func (d *dataset) fill(e sampleindex.Entry, rec []byte, s *formats.Sample, lend bool) error {
	if err := e.Fill(s); err != nil {
		return err
	}
	example, err := tfexample.Unframe(rec, !lend)
	if err != nil {
		return err
	}
	if err := decode(d.Meta().Schema, d.features, example, e.Shape(), s, lend); err != nil {
		return err
	}
	return d.VerifyLabel(e, s)
}

// Format is the format "tfrecord". The zero value is ready for use.
type Format struct{}

var (
	_ formats.WritableFormat = Format{}
	_ formats.Describer      = Format{}
)

// Name is "tfrecord".
func (Format) Name() string { return "tfrecord" }

// Aliases implements formats.Aliased.
func (Format) Aliases() []string { return []string{"tfrecords"} }

// Match matches "x.tfrecord", "x.tfrecords" and patterns such as "x-%05d.tfrecord",
// "x-{00000..00127}.tfrecord". The case of the
// extension does not matter.
func (Format) Match(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".tfrecord", ".tfrecords":
		return true
	}
	return false
}

// Describes implements formats.Describer.
func (f Format) Describes(path string) bool { return f.Match(path) && sharded.HasSidecar(path) }

// Traits implements formats.WritableFormat.
func (Format) Traits() formats.Traits { return formats.Traits{Sharded: true, ClassNames: true} }
