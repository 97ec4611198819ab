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

// MaxText is the largest number of bytes of a path, or of the text of a user's column.
const MaxText = 16 << 20

// CheckTexts returns ErrSchema if r does not have a text for each of the user's columns, or one that is too
// long.
func (r *Row) CheckTexts(columns []string) error {
	if len(r.Columns) != len(columns) {
		return fmt.Errorf("%w: %d user columns, the dataset has %d", formats.ErrSchema, len(r.Columns), len(columns))
	}
	if len(r.Source.Path) > MaxText {
		return fmt.Errorf("%w: the source path has %d bytes, the limit is %d", formats.ErrSchema, len(r.Source.Path), MaxText)
	}
	for i, v := range r.Columns {
		if len(v) > MaxText {
			return fmt.Errorf("%w: the value of column %s has %d bytes, the limit is %d", formats.ErrSchema, columns[i], len(v), MaxText)
		}
	}
	return nil
}

// Rows calls yield with each of many rows, and ends with the first error. A row is valid until yield
// returns, which may change it. It can be called again.
type Rows func(yield func(r *Row) error) error

// CheckIn returns an error if the location does not lie within one of so many files, which have those sizes.
func (at Location) CheckIn(files int, size func(shard int) int64) error {
	if at.Shard < 0 || at.Shard >= files {
		return fmt.Errorf("%w: its record is in shard %d, but there are %d shards", formats.ErrDamaged, at.Shard, files)
	}
	if size := size(at.Shard); at.Offset < 0 || at.Length < 0 || at.Offset > size || at.Length > size-at.Offset {
		return fmt.Errorf("%w: its record has %d bytes at byte %d, but the file has %d bytes", formats.ErrDamaged, at.Length, at.Offset, size)
	}
	return nil
}
