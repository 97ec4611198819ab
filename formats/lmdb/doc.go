// Package lmdb stores a dataset in a directory DST.lmdb that any LMDB reader opens.
//
//	report, err := convert.Run(ctx, src, lmdb.Format{}, "out.lmdb", convert.Options{})
//	...
//	fmt.Println(report.Written)
//	ds, err := lmdb.Format{}.Open("out.lmdb")
//
// # Layout
//
// On the disk it is
//
//	data.mdb          main database: key -> the designated image's bytes, unchanged;
//	                  raw pixels as .npy, so numpy.load(BytesIO(v)) reads them
//	fields/data.mdb   one named database per extra field: key -> the field's bytes
//	manifest.parquet  the rows, with the designated label
//	index             the rows again, with the locations of the values
//	dataset.json      the description of the dataset
//	checksums         of the blocks of all files
//
// Extra fields are all but the designated image and a designated label of kind Label;
// without any there is no fields/. Images, texts, JSON and bytes are stored unchanged,
// tensors as .npy. A mask or extra image of encoding raw+zstd is its zstd frame followed by
// a skippable frame with the .npy header; the designated image is only the zstd frame,
// since its shape is in the manifest.
//
// # Writing
//
// Samples come in key order and are put with MDB_APPEND in transactions of some MiB. A
// goroutine writes one transaction while the next is gathered, so an error of Write may be about
// a sample some MiB earlier; Checkpoint, Commit and Close wait for the goroutine. From
// one checkpoint to the next a read transaction holds the checkpoint's snapshot, so that
// LMDB reuses none of its pages; the journal records the two meta pages and the file's size.
// Resume writes them back, which restores the environment, however many transactions
// were committed since. The environment is opened again at each checkpoint: LMDB reuses
// page memory with its old content, which would otherwise show in unused bytes of pages.
// So equal samples with checkpoints after equal samples produce equal files. The memory map
// grows as needed while the dataset is written; the map size recorded in the finished data.mdb
// is the file's length.
//
// # Reading
//
// Only writing uses the LMDB library: it trusts its pages, so that a flipped bit in one can end the process.
// The reader maps data.mdb read-only and finds each value by the offset and length that the index has. They
// are recorded at Commit, from the trees that other programs search. Before a value is lent, the headers
// before it are compared with the index: the node's in a leaf, with the key, or that of the overflow pages.
// A mismatch is formats.ErrDamaged with the page. There is no lock file and no transaction: a
// dataset does not change. If LMDB's own library did change it, the newest meta page shows that when the
// dataset is opened, and the locations are taken from the trees again. Values that View lends point into the
// map. Read compares each sample with its checksum, View does not.
//
// Without cgo, reading works the same; Create and Resume return formats.ErrNotBuilt.
//
// # LMDBs of other programs
//
// Images reads LMDBs of images that other programs wrote: a folder with data.mdb, or a file (lmdb.open(..., subdir=False)).
// Without cgo it is the same.
//
//	ds, err := lmdb.Images{}.Open("train.mdb")
//
// Nothing is written, and no lock is taken. The values are image files, under any keys. If the keys are paths, the
// class is the name of the folder, and a first folder train, val, ... the split. Keys image-000000001 with a text
// under label-000000001 have it as the field text. Pickles, arrays and Caffe's Datum are not read.
//
// Keys __len__, __keys__, length and num-samples are not samples; a number of samples that they say is compared with
// what is there. Keys that are numbers become numbers of eight digits, so that they are in their order; keys that
// cannot be those of samples become hexadecimal numbers.
//
// A dataset has the samples of the newest transaction when it was opened. If another program commits a transaction
// meanwhile, reading is an error: the samples' pages may hold others by then.
package lmdb
