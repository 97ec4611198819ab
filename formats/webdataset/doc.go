// Package webdataset reads WebDataset tars that other programs wrote: one file, a pattern such as
// "x-{000000..000146}.tar", "x-%06d.tar" or "x-*.tar", a folder of tars, or a folder with such a folder for each split
// (train, val, test and so on, see formats.SplitWords). A split may also be a word of a tar's name.
//
//	ds, err := webdataset.Format{}.OpenWith(ctx, "x-{000000..000000}.tar", formats.ReadOptions{
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
package webdataset
