// Package formattest is the conformance suite of written formats. A format of one's own, in
// whichever module, passes it by a call of [Run]; [Bench] measures it:
//
//	func TestConformance(t *testing.T) {
//		for _, name := range []string{"x.lines", "x-%03d.lines"} {
//			t.Run(name, func(t *testing.T) { formattest.Run(t, Format{}, name) })
//		}
//	}
//
//	func BenchmarkFormat(b *testing.B) { formattest.Bench(b, Format{}, "x.lines") }
//
// The name is that of the datasets which the suite writes, in temporary folders. A format of several
// files passes it a second time with a pattern, such as "x-%03d.lines". Run it with -race.
//
// Each property is a sub-test, one function each, so that -run TestConformance/RoundTrip checks one:
//
//   - What comes back is what was written: keys, values, splits, sources, columns, for every kind of
//     field. Index i is the rank of the key.
//   - Reads are safe side by side and beside Close. A View writes to no memory of the caller's, and a
//     Read into what View filled to none of the dataset's.
//   - After Close, and after a Writer's Commit, everything is formats.ErrClosed; a lease keeps what
//     View lent; what is forgotten is closed.
//   - A resumed run gives the same bytes as an undisturbed one. Damage is found.
//   - Nonsense and missing paths are the documented errors.
//
// There are no exceptions for a format: the only thing that it may lack is formats.Viewer.
//
// What comes back is a sample equal to the written one, with one freedom: DType and Shape
// of an image that is not raw may be left empty, except for the designated image's Shape,
// which the manifest keeps.
package formattest
