// Package imagelmdb reads LMDBs of images that other programs wrote, without LMDB's library: a folder with data.mdb,
// or a file (lmdb.open(..., subdir=False)).
//
//	ds, err := imagelmdb.Format{}.Open("train.mdb")
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
package imagelmdb
