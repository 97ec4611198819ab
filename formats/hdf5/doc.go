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
// All datasets are contiguous; row i is the sample of rank i. Behind HDF5's own end of file
// follow the checksums of the file's blocks and a trailer (see footer.go); HDF5 ignores
// what lies there.
//
// # Writing
//
// Samples come in key order. Images are appended to a file in the stage, behind room for
// HDF5's header, further fields to files of their own. Commit has the library make a
// skeleton: the same file, but with the bytes of images and fields left out as a hole. Its
// header and tail are copied around the images, whose bytes are thus written once, and the
// fields into their places. The library never sees a file that a kill would cost hours.
//
// # Reading
//
// The library tells where the datasets lie; their bytes are read from mapped memory,
// without the library's lock. Values that View lends point there. Read compares each sample
// with its checksum, View does not. Files that dsconv did not write, chunked or compressed
// ones among them, are not read: formats.ErrNotDataset.
//
// The package needs cgo; without it Open, Create and Resume return formats.ErrNotBuilt.
package hdf5
