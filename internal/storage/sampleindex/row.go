package sampleindex

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
)

// Location is where bytes are in a dataset's data files: the record of a sample, or one value.
type Location struct {
	Shard  int   // index into Meta.Files
	Offset int64 // of the first byte
	Length int64 // in bytes
}

// Row is what is recorded of a sample apart from its values.
type Row struct {
	formats.Info
	// Location is that of the sample's record in a shard. In LMDB and HDF5 it is that of the designated
	// image, which only the index has: in the manifest it is zero.
	Location Location
	// Fields are the locations of the extra fields' values where each has its own, as in LMDB. Only the
	// index has them.
	Fields []Location
}

// Rows calls yield with each of many rows, and ends with the first error. A row is valid until yield
// returns, which may change it. It can be called again.
type Rows func(yield func(r *Row) error) error

// CheckLocation returns an error if the record does not lie within a file of those sizes.
func (r *Row) CheckLocation(sizes []int64) error {
	at := r.Location
	if at.Shard < 0 || at.Shard >= len(sizes) {
		return fmt.Errorf("key %q: %w: its record is in shard %d, but there are %d shards", r.Key, formats.ErrDamaged, at.Shard, len(sizes))
	}
	if size := sizes[at.Shard]; at.Offset < 0 || at.Length < 0 || at.Offset > size || at.Length > size-at.Offset {
		return fmt.Errorf("key %q: %w: its record has %d bytes at byte %d, but the file has %d bytes", r.Key, formats.ErrDamaged, at.Length, at.Offset, size)
	}
	return nil
}
