// Package formats is the contract between everything that holds images: the folder a
// user starts from and every format dsconv writes are all a [Dataset]; what is written
// goes through a [Writer]. Conversion is Dataset -> preprocess -> Writer for any pair.
//
// The package imports the standard library only. Implementations live beside it, one
// folder each, and never import each other; what they share at rest (the partial
// folder, the manifest, block checksums) is in formats/atrest. The list of formats is in
// formats/all: there is no registration by side effect.
//
// # Index
//
// Index i of a Dataset is the rank of the sample's key in bytewise order: the same
// sample in every format, wherever it lies in the file.
//
// # Lifetime and threads
//
// A Dataset is safe for concurrent use. [Dataset.Read] fills buffers that belong to the
// caller's Sample and reuses them. [Viewer.View] lends memory of the dataset itself,
// read-only, valid until Close. A Writer belongs to one goroutine.
package formats
