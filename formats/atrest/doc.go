// Package atrest is what all written formats have in common at rest, so that each of
// them holds only its own records:
//
//   - [Stage], the folder DST.partial in which a dataset grows, with a lock, a journal of
//     checkpoints and an all-or-nothing publication;
//   - [Table], the manifest: a row a sample, in memory and as manifest.parquet;
//   - [Sums], a CRC-32C for each 1 MiB block of each file, in a table that checks itself;
//   - [Catalog], what an open dataset knows without its data;
//   - [Shards] and [Records] for formats that append records to one or many files and read
//     them back from mapped memory;
//   - [Single] and [Reader] for formats of one file or folder that find values by themselves.
//
// What dsconv deletes, moves or replaces it can show to have written: a stage with a journal,
// opened without following links; in a folder that is replaced the files with dsconv's own names
// that its table of checksums has; of shards those with a name of the pattern that the table
// has. What else lies there goes over to the new version, or is named in an error that is
// formats.ErrForeign, and stays. See claim.go, old.go and carry.go.
//
// docs/formats.md describes the files byte by byte.
package atrest
