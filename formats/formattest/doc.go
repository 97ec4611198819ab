// Package formattest is the conformance suite of written formats. A format passes it in
// one line:
//
//	func TestConformance(t *testing.T) { formattest.Run(t, lmdb.Format{}, "x.lmdb") }
//	func BenchmarkFormat(b *testing.B) { formattest.Bench(b, lmdb.Format{}, "x.lmdb") }
//
// Each property is a sub-test, one function each: what comes back is what was written
// (keys, values, splits, sources, columns, for every kind of field), index is rank, reads
// are safe side by side, a View writes to no buffer of the caller's and a Read into what
// View filled to no memory of the dataset, a resumed run gives the same bytes as an
// undisturbed one, damage is found, the documented errors are returned. There are no exceptions for a format: the
// only thing a format may lack is the Viewer.
//
// What comes back is a sample equal to the written one, with one freedom: DType and Shape
// of an image that is not raw may be left empty, except for the designated image's Shape,
// which the manifest keeps.
//
// Beside the suite are what the tests of formats and of their callers share: trees of
// files that must be the same ([SameTrees]), a writer that is killed ([Pack]), Python
// ([Python]).
package formattest
