// Package staging writes datasets of all formats so that they are whole or not there:
//
//   - [Stage], the folder DST.partial in which a dataset grows, with a lock, a journal of
//     checkpoints and an all-or-nothing publication;
//   - [Shards] for formats that append records to one or many files;
//   - [Single] for formats of one file or folder.
//
// What dsconv deletes, moves or replaces it can show to have written: a stage with a journal,
// opened without following links; in a folder that is replaced the files with dsconv's own names
// that its table of checksums has; of shards those with a name of the pattern that the table
// has. What else lies there goes over to the new version, or is named in an error that is
// formats.ErrForeign, and stays. See claim.go, old.go and carry.go.
package staging
