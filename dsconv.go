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
// # Packages
//
// This package knows all formats. Programs that need only some use the packages below it:
//
//   - github.com/dsconv/dsconv/formats: what a dataset is, its samples, errors and options
//   - github.com/dsconv/dsconv/formats/folder: folders of images; beside it lmdb, hdf5, shard and tfrecord
//   - github.com/dsconv/dsconv/formats/archive: the files of a zip or a tar, read where they lie
//   - github.com/dsconv/dsconv/formats/parquet: what other programs wrote, read where it lies
//   - github.com/dsconv/dsconv/convert: conversions of any dataset into another, in one format
//   - github.com/dsconv/dsconv/preprocess: recipes (resize, crop, encode)
//   - github.com/dsconv/dsconv/preprocess/codec: single images, decoded and encoded
//   - github.com/dsconv/dsconv/preprocess/pixel: images in memory, colours, layouts and filters
//   - github.com/dsconv/dsconv/reader: the Loader, which loads batches for training
//   - github.com/dsconv/dsconv/reader/augment: random crops, flips and other transforms of a Loader
//   - github.com/dsconv/dsconv/reader/order: the order of the samples of an epoch
//   - github.com/dsconv/dsconv/reader/random: the random numbers of transforms and orders
//   - github.com/dsconv/dsconv/edit: samples added, removed, relabelled, merged
//   - github.com/dsconv/dsconv/diff: what differs between two datasets
//   - github.com/dsconv/dsconv/verify: whether a dataset is whole
//   - github.com/dsconv/dsconv/trainer: a small network that is trained on a dataset
//   - github.com/dsconv/dsconv/bench: how fast datasets are loaded
package dsconv

import (
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/formats/hdf5"
	"github.com/dsconv/dsconv/formats/lmdb"
	"github.com/dsconv/dsconv/formats/mds"
	"github.com/dsconv/dsconv/formats/parquet"
	"github.com/dsconv/dsconv/formats/shard"
	"github.com/dsconv/dsconv/formats/tfrecord"
)

// Formats lists all formats: first those that other programs write, which match by content, then dsconv's
// own. The folder comes last, after lists of images: it matches any directory that no other format matches. The caller owns the list.
func Formats() formats.Registry {
	return formats.Registry{
		shard.WebDataset{},
		mds.Format{},
		archiveFormat{},
		parquet.Format{},
		tfrecord.Examples{},
		lmdb.Images{},
		lmdb.Format{},
		hdf5.Format{},
		shard.Format{},
		tfrecord.Format{},
		folder.ListFormat{},
		folder.Format{},
	}
}
