package tfrecord

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/foreign"
	"github.com/dsconv/dsconv/internal/storage/tfexample"
)

// exampleDataset verifies the checksum of each record that is read.
type exampleDataset struct{ *foreign.Dataset }

var (
	_ formats.Dataset        = (*exampleDataset)(nil)
	_ formats.Viewer         = (*exampleDataset)(nil)
	_ formats.Prefetcher     = (*exampleDataset)(nil)
	_ formats.StorageOrdered = (*exampleDataset)(nil)
	_ formats.Identifier     = (*exampleDataset)(nil)
)

// Read implements formats.Dataset.
func (d *exampleDataset) Read(i int, s *formats.Sample) error {
	if err := d.Dataset.Read(i, s); err != nil {
		return err
	}
	return d.Stored(i, func(frame []byte) error {
		if _, err := tfexample.Unframe(frame, true); err != nil {
			return fmt.Errorf("read %s: key %q: %w", d.Path, s.Key, err)
		}
		return nil
	})
}
