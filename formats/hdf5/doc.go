// Package hdf5 keeps a dataset in one HDF5 file that h5py and the HDF5 tools read:
//
//	images            (N, H, W, C) raw images of one shape and element type; otherwise
//	bytes             all images' bytes one after another, uint8,
//	offsets           (N+1) int64: image i is bytes[offsets[i]:offsets[i+1]], and
//	shapes            (N, 3) int64: H, W, C
//	labels            (N) int64, -1 where there is none; (N, K) uint8 if multi-hot
//	keys, classes     strings
//	NAME              further fields of one shape: (N, ...)
//	NAME/             other further fields: bytes, offsets, shapes (rows are filled up with
//	                  -1), encodings and dtypes (N) uint8, codes (see layout.go)
//	dsconv/           manifest.parquet and dataset.json as they are, uint8
//
// A further field that is called like one of ours gets a "_" at its end. The attribute
// encoding of images, bytes and further fields names the values' encoding, "mixed" if there
// are several.
// All datasets but keys and classes are contiguous; row i is the sample of rank i. Behind
// HDF5's own end of file follows a footer, which HDF5 ignores: the checksums of the file's
// blocks (see footer.go) and the places of the datasets (see places.go).
//
// # Writing
//
// Samples come in key order. Images are appended to a file in the stage, behind room for
// HDF5's header, further fields to files of their own. Commit has the library make a
// skeleton: the same file, but with the bytes of images and fields left out as a hole. Its
// header and tail are copied around the images, whose bytes are thus written once, and the
// fields into their places. The library never sees a file that a kill would cost hours. It
// also tells where the datasets lie, which the footer keeps, and has the last word: what it
// finds in the finished file must be what a reader finds.
//
// # Reading
//
// Reading needs no HDF5 library, which trusts what a file says of itself and has locks: the
// footer tells where the datasets lie, and their bytes are read from mapped memory. Values
// that View lends point there. Open checks the checksums of all datasets but images and
// fields' values, which it does not read; Read compares each sample with its checksum, View
// does not. Salvage tolerates damage of all but the places, the manifest and dataset.json.
// Files that dsconv did not write are not read: formats.ErrNotDataset.
//
// Writing needs cgo; without it Create and Resume return formats.ErrNotBuilt.
package hdf5
