// Package formats is the contract between everything that holds images. The folder a
// user starts from and every format dsconv writes is a [Dataset]; every format is written
// through a [Writer]. A conversion is Dataset -> preprocess -> Writer for any pair.
//
// The package imports only the standard library and a matcher of file patterns. Implementations
// live beside it, one folder each, and never import each other. What their files have in common
// (the staging folder, the manifest, block checksums) is in packages beside them: staging,
// sharded, sidecar, manifest, checksum, mapped, value. The list of formats
// is dsconv.Formats: there is no registration by side effect.
//
// # Index
//
// Index i of a Dataset is the position of the sample's key in bytewise order: the same
// sample in every format, wherever it lies in the file.
//
// # Lifetime and threads
//
// A Dataset is safe for concurrent use. [Dataset.Read] fills buffers that belong to the
// caller's Sample and reuses them. [Viewer.View] lends memory of the dataset itself,
// read-only, valid until Close. A Writer belongs to one goroutine.
package formats
