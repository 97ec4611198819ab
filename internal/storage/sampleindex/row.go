package sampleindex

import "github.com/dsconv/dsconv/formats"

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
