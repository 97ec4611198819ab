// Package atrest holds what the files of all written formats have in common, so that each
// format implements only its own records:
//
//   - [Stage], the staging folder DST.partial in which a dataset is written, with a lock, a
//     journal of checkpoints and atomic publication;
//   - [Manifest], one row per sample, in memory and as manifest.parquet;
//   - [Checksums], a CRC-32C for each 1 MiB block of each file, in a table with a checksum;
//   - [Description], an open dataset's dataset.json and manifest;
//   - [Shards] and [Records] for formats that append records to one or many files and read
//     them back from mapped memory;
//   - [Single] and [ValueReader] for formats of one file or folder that locate values themselves.
//
// dsconv deletes, moves or replaces only what it can prove to have written: a staging folder with
// a journal, opened without following links; in a folder that is replaced, the files with
// dsconv's own names that are in its table of checksums; of shards, the files that match the
// pattern and are in the table. Other files move to the new version, or stay and are named in an
// error with formats.ErrForeign. See claim.go, old.go and carry.go.
//
// docs/formats.md describes the files byte by byte.
package staging
