package lmdb

import (
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/mapped"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/storage/sharded"
)

// Prefetch implements formats.Prefetcher.
func (d *dataset) Prefetch(indices []int32) {
	if d.Gate.Enter(0) != nil {
		return
	}
	defer d.Gate.Leave(0)
	// If a page cannot be read here, reading its values reports it.
	_ = guard.Do(func() error {
		var files []*mapped.Mapping
		for _, e := range d.environments() {
			files = append(files, e.Mapping)
		}
		sharded.Prefetch(files, d.valueLocations(indices))
		return nil
	})
}

// valueLocations returns the locations of all values; Shard is the index in d.environments.
func (d *dataset) valueLocations(indices []int32) []sampleindex.Location {
	locations := make([]sampleindex.Location, 0, len(indices)*(1+len(d.extra)))
	for _, i := range indices {
		e, err := d.Index().At(int(i))
		if err != nil {
			continue
		}
		locations = append(locations, e.Location())
		for k := range d.extra {
			at := e.Field(k)
			at.Shard = 1
			locations = append(locations, at)
		}
	}
	return locations
}
