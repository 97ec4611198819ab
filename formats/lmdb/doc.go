// Package lmdb keeps a dataset in a directory DST.lmdb that any LMDB reader opens:
//
//	data.mdb          main database: key -> the designated image's bytes as they are;
//	                  raw pixels are an .npy file image, so numpy.load(BytesIO(v)) reads them
//	fields/data.mdb   one named database a further field: key -> the field's bytes
//	manifest.parquet  the rows, with the designated label
//	dataset.json      what the dataset is
//	checksums         of the blocks of all files
//
// Further fields are all but the designated image and a designated label of kind Label;
// without any there is no fields/. Images, texts, JSON and bytes are stored as they are,
// tensors as .npy. A mask or further image of encoding raw+zstd is its zstd frame and
// after it a skippable frame with the .npy header; the designated image's frame stands
// alone, its shape is in the manifest.
//
// # Writing
//
// Samples come in key order and are put with MDB_APPEND in transactions of some MiB; a
// goroutine writes one while the next is gathered, and Checkpoint, Commit and Close wait for
// it, so an error of Write may be that of a sample some MiB before. From
// one checkpoint to the next a read transaction holds the checkpoint's snapshot, so that
// LMDB reuses none of its pages; the journal keeps the two meta pages and the file's size.
// Resume writes them back, and the environment is what it was, however many transactions
// were committed since. The environment is opened afresh at each checkpoint: LMDB recycles
// page memory with its old content, which would otherwise show in unused bytes of pages.
// So equal samples with checkpoints after equal samples give equal files. The size of the
// memory map grows as needed while the dataset is written; what data.mdb keeps of it in
// the end is its own length.
//
// # Reading
//
// LMDB itself writes, but does not read: it believes what its pages say, and a flipped bit in
// one can end the process. Here data.mdb is mapped read-only, its trees are searched by the
// structures of LMDB's mdb.c, and each page number, offset and size is compared with the page
// and the file first; what does not fit is formats.ErrDamaged with the page. There is no lock
// file and no transaction: a dataset does not change. Values that View lends point into the
// map. Read compares each sample with its checksum, View does not.
//
// Without cgo datasets are read as with it; Create and Resume return formats.ErrNotBuilt.
package lmdb
