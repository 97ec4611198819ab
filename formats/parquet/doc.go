// Package parquet reads images in Parquet files as Hugging Face's datasets writes them: a column that is a struct of
// bytes and path, or bytes that are image files. It writes nothing.
//
//	ds, err := parquet.Format{}.Open("my-dataset") // with data/train-00000-of-00003.parquet and so on
//
// A dataset is a file, or a folder with files in it, in data/, or in folders named as splits. The splits are those of
// the files' names. ClassLabel's names, in the files' metadata, are the classes; those of a label
// that is a text are the texts, sorted. The image is the column image or img,
// or the first one of images; other ones are more image fields, and a mask if the name is mask or ends in _mask. Texts
// in columns named text, caption or prompt are fields; other texts and numbers are the user's columns.
// ReadOptions.Map names others: image=jpg,label=species. Lists and structs are left out, which Skips says.
//
// Opening reads the files' footers, and a label's texts, no other sample. A sample's page, which may have a hundred images, is decompressed as a
// whole, and 128 MiB of pages are kept: samples in the order of their keys, and blocks of them, are read fast, single
// ones at random are not. Keys are numbers in the order of the files: train/00000. Info's Size is the mean of the
// samples stored together.
package parquet
