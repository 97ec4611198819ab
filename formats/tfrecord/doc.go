// Package tfrecord reads and writes TFRecord files of tf.train.Example.
//
//	o := convert.Options{Shards: convert.Sharding{Count: 16}}
//	report, err := convert.Run(ctx, src, tfrecord.Format{}, "out-%05d.tfrecord", o)
//	...
//	fmt.Println(report.Written)
//	ds, err := tfrecord.Format{}.Open("out-%05d.tfrecord")
//
// # Features
//
// The features of an example are sorted by name:
//
//	column/NAME           bytes   a column of the user's
//	field/NAME            bytes   images, masks, text, JSON, bytes, and tensors of uint8 and uint16
//	                      float   boxes (x0 y0 x1 y1 of each in turn), tensors of float32
//	                      int64   labels, multi-hot labels (the designated one too), tensors of int64
//	field/NAME/dtype      bytes   "uint8", ...: of raw pixels and of tensors that are bytes
//	field/NAME/format     bytes   "jpeg", "png", ..., of images and masks
//	field/NAME/shape      int64   of raw pixels and tensors
//	image/channels        int64   of the designated image, like height and width, if known
//	image/class/label     int64   the designated label, if it is one index
//	image/class/text      bytes   its class
//	image/dtype           bytes   of raw pixels
//	image/encoded         bytes   the designated image's bytes
//	image/filename        bytes   path in the source, or the key
//	image/format          bytes   "jpeg", "png", "bmp", "gif", "tiff", "webp", "raw" or "raw+zstd"
//	image/height          int64
//	image/key             bytes   the key, if it is not the filename without extension
//	image/width           int64
//	split                 bytes   if the dataset has splits
//
// Missing labels are omitted. Raw pixels and tensors are little-endian
// in C order: tf.io.decode_raw reads them; "raw+zstd" is one zstd frame of them.
//
// # Sidecar
//
// Beside the files is "x.tfrecord.dsconv" with manifest, dataset.json, checksums, and
// NAME.tfindex for each file, lines of "offset length" as the tfrecord package and DALI
// read them.
//
// # Sources
//
// The framing is that of TensorFlow's record_writer: length (uint64), masked CRC-32C of the
// length, data, masked CRC-32C of the data. The message is tensorflow/core/example, written
// and parsed here by hand: every list is one length-delimited value, so that floats and
// images are views of the file.
//
// # Records of other programs
//
// Examples reads TFRecord files of tf.train.Example that other programs wrote: a file, shards such as
// train-00000-of-01024, or a folder of them. Nothing is written.
//
//	ds, err := tfrecord.Examples{}.OpenWith(ctx, "train-*-of-*", formats.ReadOptions{
//		Map: map[string]string{"image": "image", "label": "label"},
//	})
//
// Which feature is what goes by the usual names, or by a map (formats.ReadOptions):
//
//   - image: image/encoded, image, image_raw, ..., or the only feature whose bytes are image files.
//   - label: image/class/label, label, class, ...; see below.
//   - image/filename, filename, file_name: the source's path, which becomes the key.
//   - image/class/synset and image/class/text: user columns synset and text.
//   - image/height, image/width, image/channels, image/format and image/colorspace describe the image, and are not
//     fields.
//   - All other features are fields: int64 lists are arrays, a single float is a number, several are arrays, bytes
//     are images if they are image files, else bytes. Characters that a field's name
//     cannot have become '_'. A list without values, of any kind, is a missing value.
//
// Which numbers are labels:
//
// Records with image/class/synset have classes by synset: sorted, as ImageFolder has them, so the indices are
// torchvision's and the 1-based numbers of TensorFlow's ImageNet scripts have no part in them. With image/class/text
// and no synset, the classes are those texts. Other numbers are indices as they are, except under image/class/label: if
// there is no 0 there, the map must say it: label=image/class/label-1 subtracts one, label=image/class/label+0 nothing.
//
// The split is that of the file's name (train-00000-of-01024, mnist-test.tfrecord-00000-of-00001), or of its folder.
//
// Making the index verifies the checksum of each frame's length. Read verifies the data's too, View does not.
package tfrecord
