// Package staging writes datasets of all formats so that they are complete or absent:
//
//   - [Stage], the staging folder DST.partial in which a dataset is written, with a lock, a
//     journal of checkpoints and atomic publication;
//   - [Shards] for formats that append records to one or many files;
//   - [Single] for formats of one file or folder.
//
// dsconv deletes, moves or replaces only what it can prove to have written: a staging folder with
// a journal, opened without following links; in a folder that is replaced, the files with
// dsconv's own names that are in its table of checksums; of shards, the files that match the
// pattern and are in the table. Other files move to the new version, or stay and are named in an
// error with formats.ErrForeign. See owned.go and foreignfiles.go.
//
// docs/formats.md describes the files byte by byte.
package staging
