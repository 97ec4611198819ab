// Package manifest has the table of a dataset's samples, one row for each: in memory ([Manifest]) and
// as manifest.parquet, which it writes and reads. [Description] is what an open dataset knows without
// its data, [ValueReader] reads samples of formats that locate values themselves. docs/formats.md
// describes the files byte by byte.
package manifest
