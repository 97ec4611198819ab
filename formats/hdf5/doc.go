// Package hdf5 stores a dataset in one HDF5 file that h5py and the HDF5 tools read.
//
//	report, err := convert.Run(ctx, src, hdf5.Format{}, "out.h5", convert.Options{})
//	...
//	fmt.Println(report.Written)
//	ds, err := hdf5.Format{}.Open("out.h5")
//
// # Layout
//
// The file has these datasets:
//
//	images            (N, H, W, C) raw images of one shape and element type; otherwise
//	bytes             all images' bytes concatenated, uint8,
//	offsets           (N+1) int64: image i is bytes[offsets[i]:offsets[i+1]], and
//	shapes            (N, 3) int64: H, W, C
//	labels            (N) int64, -1 if there is none; (N, K) uint8 if multi-hot
//	keys, classes     strings
//	NAME              extra fields of one shape: (N, ...)
//	NAME/             other extra fields: bytes, offsets, shapes (rows are padded with
//	                  -1), encodings and dtypes (N) uint8, codes (see layout.go)
//	dsconv/           manifest.parquet, dataset.json and index, unchanged, uint8; the index begins at a
//	                  multiple of 4,096 bytes
//
// An extra field with the name of one of these datasets gets a "_" at its end. The attribute
// encoding of images, bytes and extra fields is the values' encoding, "mixed" if there
// are several.
// All datasets but keys and classes are contiguous; row i is the sample with index i. After
// HDF5's own end of file there is a footer, which HDF5 ignores: the checksums of the file's
// blocks (see footer.go) and the extents of the datasets (see extents.go).
//
// # Writing
//
// Samples come in key order. Images are appended to a file in the staging folder, after space
// for HDF5's header; extra fields to their own files. Commit writes all other datasets but keys and
// classes to files too, row by row. Then the library writes a skeleton: the same file, but with holes
// instead of the bytes of these datasets. Its header and tail are copied around the images, whose bytes are
// therefore written once, and the other files are copied into their holes. So a kill never leaves a large file
// that the library has half written, and memory does not grow with the samples. The library also returns the
// extents of the datasets for the footer. Finally, Commit verifies that the library and the reader find the
// same extents in the finished file.
//
// # Reading
//
// Reading does not use the HDF5 library, which trusts the file and uses locks: the footer has
// the extents of the datasets, and their bytes are read from mapped memory. Values
// that View lends point there. Open reads the footer, dataset.json and a few pages of the index, which has each image's location. The
// offsets, shapes and types of extra fields are compared with the checksums of the file's blocks when they are
// first used: damage costs the samples in the block. Read compares each sample with its checksum, View
// does not. Salvage tolerates damage of the block checksums, and of the index if the manifest is intact.
// Format reads no files that dsconv did not write: formats.ErrNotDataset.
//
// Writing needs cgo; without it Create and Resume return formats.ErrNotBuilt.
package hdf5
