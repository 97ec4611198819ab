// Package mds reads what MosaicML Streaming wrote (MDSWriter): a folder with index.json and shards, or a folder
// with such a folder for each split.
//
//	ds, err := mds.Format{}.OpenWith(ctx, "imagenet-mds", formats.ReadOptions{
//		Map: map[string]string{"image": "x", "label": "y"},
//	})
//
// The keys are the samples' numbers, "000123", in a split "train/000123". Without a map the fields are:
//
//   - image: the column image, img, x or pixels if its encoding is jpeg, png or pil, or its bytes are an image; else
//     the first column that is one.
//   - label: the column label, labels, class, target, cls or y, if it has whole numbers or texts, which are names
//     of classes.
//   - others by their name: images, text (str), JSON, arrays (ndarray and numbers; integers of other sizes
//     become int64, float16 becomes float32), else bytes as they are stored. float64 is stored as bytes.
//
// Pickles are bytes and never loaded. Shards that are compressed as a whole by zstd, gz or bz2 are read too: a shard is
// decompressed into memory for its first sample, one shard at a time, and 256 MiB of them are kept. So reading in
// the order of the keys is fast, and a full shuffle is not. The hashes in index.json are not compared.
package mds
