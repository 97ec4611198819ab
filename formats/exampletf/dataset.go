package exampletf

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/foreign"
	"github.com/dsconv/dsconv/internal/storage/tfexample"
)

// dataset verifies the checksum of each record that is read.
type dataset struct{ *foreign.Dataset }

var (
	_ formats.Dataset        = (*dataset)(nil)
	_ formats.Viewer         = (*dataset)(nil)
	_ formats.Prefetcher     = (*dataset)(nil)
	_ formats.StorageOrdered = (*dataset)(nil)
	_ formats.Identifier     = (*dataset)(nil)
)

// Read implements formats.Dataset.
func (d *dataset) Read(i int, s *formats.Sample) error {
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
