// Package shard reads and writes WebDataset shards: tar files (GNU headers) in which the
// members of a sample are adjacent.
//
//	o := convert.Options{Shards: convert.Sharding{Size: 1 << 30}}
//	report, err := convert.Run(ctx, src, shard.Format{}, "out-%06d.tar", o)
//	...
//	fmt.Println(report.Written)
//	ds, err := shard.Format{}.Open("out-%06d.tar")
//
// # Members
//
// A sample of key KEY has, in this order,
//
//	KEY.jpg             the designated image; .png .bmp .gif .tif .webp .npy .npy.zst by encoding
//	KEY.cls             the designated label, if it is one index: ASCII; none for NoLabel
//	KEY.json            an object of the user's columns, if the dataset has any
//	KEY.NAME.EXT        each extra field, in the schema's order
//
// where EXT is an image's extension as above, .npy for boxes, arrays and multi-hot labels
// (the designated one too), .txt, .json, .cls and .bin. A raw+zstd image is two zstd frames,
// of the .npy header and of the elements, so that `zstd -d` outputs an .npy file.
//
// For WebDataset, the sample's name ends at the first dot of a path's last element, and the rest
// is the field: "jpg", "cls", "left.png". So dots in that element are percent-encoded
// in member names. So are '%' itself, control characters, and the first '_' of a name that
// starts with "__", which WebDataset reserves. The true key is in the manifest.
// Names over 100 bytes are GNU @LongLink members, not PAX records, which DALI does not read.
// Mode, owner and time of all members are fixed: 0644, 0, 0.
//
// # Compression
//
// "x.tar.zst" has one zstd frame per sample and another for the end of the archive: valid
// input for `zstd -d | tar x`, with random access for this package. Read verifies the frames'
// content checksums.
//
// # Sidecar
//
// Beside the shards is "x.tar.dsconv" with manifest, dataset.json and checksums, and for
// uncompressed shards the indexes of other programs: NAME.idx of each shard for
// DALI (version 1.2; spaces in names are %20 there) and wids.json.
//
// # Tars of other programs
//
// WebDataset reads WebDataset tars that other programs wrote: one file, a pattern such as
// "x-{000000..000146}.tar", "x-%06d.tar" or "x-*.tar", a folder of tars, or a folder with such a folder for each split
// (train, val, test and so on, see formats.SplitWords). A split may also be a word of a tar's name.
//
//	ds, err := shard.WebDataset{}.OpenWith(ctx, "x-{000000..000000}.tar", formats.ReadOptions{
//		Map: map[string]string{"image": "jpg;png", "label": "json.label"},
//	})
//
// Members are grouped as the webdataset library does: the key of a sample is a member's path up to the first
// dot of its last element, and the rest, in lower case, is the kind of value. Members of one sample need not
// be adjacent. If all names have dots, such as a.b.jpg and a.b.cls, the last one counts. Nothing is unpacked or changed, and pickles are never loaded.
//
// Without a map the fields are:
//
//   - image: the members named jpg, png and so on. If some samples have two of them, the kind that most have.
//   - label: cls, a class index, the name of a class, or a 0 or 1 for each class.
//   - others by their extension, "mask.png" as mask: images, JSON, text (txt), arrays (npy), else bytes.
//
// A sample without the image, or without an array or second image that all others have, is left out and listed
// by Skips. One without the label has none; text, JSON and bytes that are missing are "", null and
// empty. Images and arrays that only some samples have are fields of bytes.
//
// If several files have the same key, all keys begin with the name of their file.
package shard
