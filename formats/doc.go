// Package formats is the contract between everything that holds images. The folder a
// user starts from and every format dsconv writes is a [Dataset]; every format is written
// through a [Writer]. A conversion is Dataset -> preprocess -> Writer for any pair.
//
//	ds, err := dsconv.Formats().Open("out.lmdb") // or of another formats.Registry
//	...
//	defer ds.Close()
//	var s formats.Sample
//	for i := range ds.Len() {
//		if err := ds.Read(i, &s); err != nil {
//			return err
//		}
//		fmt.Println(s.Key, len(s.Values[ds.Meta().Schema.ImageIndex()].Data))
//	}
//
// The package imports only the standard library and a matcher of file patterns. Implementations
// live beside it, one folder each, and never import each other. The list of formats is
// dsconv.Formats: there is no registration by side effect.
//
// # Index
//
// Index i of a Dataset is the position of the sample's key in bytewise order: the same
// sample in every format, wherever it lies in the file.
//
// # Lifetime and threads
//
// A Dataset is safe for concurrent use, also with its Close. [Dataset.Read] fills memory of the
// caller's Sample and uses it again. [Viewer.View] lends memory of the dataset itself, read-only,
// valid until Close or, with a [Viewer.Lease], until that is released. A [Sample] and a [Value] write
// only to memory that they made: what is assigned to Data, Shape, Values or Columns stays as it is,
// so a Dataset of one's own may give away its items. What is used after Close returns [ErrClosed].
// A dataset that is forgotten without Close is closed once unreachable, unless View lent memory
// of it without a lease. A Writer belongs to one goroutine.
package formats
