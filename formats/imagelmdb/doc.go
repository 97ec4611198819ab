// Package imagelmdb reads LMDBs of images that other programs wrote, without LMDB's library: a folder with data.mdb,
// or a file (lmdb.open(..., subdir=False)).
//
//	ds, err := imagelmdb.Format{}.OpenWith(ctx, "train.mdb", formats.ReadOptions{
//		Map: map[string]string{"image": "0", "label": "1"},
//	})
//
// Nothing is written, and no lock is taken. What is read goes by the first values:
//
//   - Image files, or arrays as numpy.save writes them, under any keys. If the keys are paths, the class is the name
//     of the folder, and a first folder train, val, ... the split. Keys image-000000001 with a text under
//     label-000000001 have it as the field text.
//   - Pickled samples, as scripts that turn an ImageFolder into an LMDB write them: (image, label), or a dict of
//     them. The image is an image file or a NumPy array (height, width, channels); the label is a number or a
//     class's name. Pickles are read as plain values: nothing in them is run. A map names the keys of the dict
//     (image=jpg,label=cls), or the items of the tuple (image=0,label=2).
//   - Caffe's Datum. Pixels in three channels are blue, green, red if Caffe's convert_imageset wrote them, and red,
//     green, blue from other programs, so a map must say which: image=bgr or image=rgb.
//
// Keys __len__, __keys__, length and num-samples are not samples; a number of samples that they say is compared with
// what is there. Keys that are numbers become numbers of eight digits, so that they are in their order; keys that
// cannot be those of samples become hexadecimal numbers.
//
// A dataset has the samples of the newest transaction when it was opened. If another program commits a transaction
// meanwhile, reading is an error: the samples' pages may hold others by then.
package imagelmdb
