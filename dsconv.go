// Package dsconv packs folders of images into datasets that are fast to read, and reads any dataset:
// LMDB, HDF5, tar shards, TFRecord, and folders.
//
//	report, err := dsconv.Pack(ctx, "images", "train.lmdb", dsconv.Options{})
//	...
//
//	loader, err := dsconv.NewLoader("train.lmdb", reader.Config{BatchSize: 64, Shuffle: true})
//	...
//	defer loader.Close()
//	for batch, err := range loader.Epoch(ctx, 0) {
//		if err != nil {
//			return err
//		}
//		fmt.Println(batch.Shape, reader.Labels[int64](batch))
//	}
//
//	ds, err := dsconv.Open("train.lmdb")
//	...
//	defer ds.Close()
//	for sample, err := range dsconv.Samples(ds) {
//		if err != nil {
//			return err
//		}
//		fmt.Println(sample.Key)
//	}
//
// The package knows all formats. Programs that need only some use the packages below it: formats for
// what a dataset is, convert for conversions, reader for batches.
package dsconv

import (
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/formats/hdf5"
	"github.com/dsconv/dsconv/formats/lmdb"
	"github.com/dsconv/dsconv/formats/shard"
	"github.com/dsconv/dsconv/formats/tfrecord"
)

// Formats lists all formats. The folder comes last: it matches any directory that no other format
// matches by its name. The caller owns the list.
func Formats() formats.Registry {
	return formats.Registry{lmdb.Format{}, hdf5.Format{}, shard.Format{}, tfrecord.Format{}, folder.Format{}}
}
