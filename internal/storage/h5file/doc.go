// Package h5file reads arrays from HDF5 files of other programs without HDF5's library, which must not be trusted
// with strangers' files. It reads what h5py writes by default and the common rest:
//
//   - superblocks 0 to 3; object headers 1 and 2; groups as symbol tables and as compact links
//   - integers, floats, strings, and rows of variable length
//   - contiguous, compact and chunked layouts, chunks found by B-trees of version 1, a single chunk, or in a row
//   - the filters gzip, shuffle, lzf and fletcher32
//
// Everything else is an error that says what is not supported. Every offset, size and count is compared with the
// file before it is used, every walk over the file's structures ends, and no memory is allocated for what is only
// claimed, beyond the limits of one chunk. The bytes are mapped memory: use them through package guard. A [File] is
// safe for concurrent use.
package h5file
