// Package exampletf reads TFRecord files of tf.train.Example that other programs wrote: a file, shards such as
// train-00000-of-01024, a folder of them, or a folder of TensorFlow Datasets (TFDS). Nothing is written.
//
//	ds, err := exampletf.Format{}.OpenWith(ctx, "train-*-of-*", formats.ReadOptions{
//		Map: map[string]string{"image": "image", "label": "label"},
//	})
//
// Which feature is what goes by the usual names, by TFDS's features.json, or by a map (formats.ReadOptions):
//
//   - image: image/encoded, image, image_raw, ..., or the only feature whose bytes are images. Bytes that are no
//     image file are pixels (uint8) if features height and width, and depth or channels, say their shape.
//   - label: image/class/label, label, class, ...; see below. A list of 0 and 1 for each class is multi-hot.
//   - image/filename, filename, file_name: the source's path, which becomes the key.
//   - image/class/synset and image/class/text: user columns synset and text.
//   - image/height, image/width, image/channels, image/format and image/colorspace describe the image, and are not
//     fields.
//   - All other features are fields: int64 lists are arrays, a single float is a number, several are arrays, bytes
//     are images if they are image files, text if features.json says so, else bytes. Characters that a field's name
//     cannot have become '_'. A list without values, of any kind, is a missing value.
//
// # Labels
//
// Records with image/class/synset have classes by synset: sorted, as ImageFolder has them, so the indices are
// torchvision's and the 1-based numbers of TensorFlow's ImageNet scripts have no part in them. With image/class/text
// and no synset, the classes are those texts. TFDS's classes are those of label.labels.txt, in its order. Other
// numbers are indices as they are, except under image/class/label: if there is no 0 and every number from 1 to n
// occurs, 0 stands for ImageNet's "background", and 1 becomes 0. If neither holds, the map must say it:
// label=image/class/label-1 subtracts one, label=image/class/label+0 nothing.
//
// # Splits
//
// The split is that of the file's name (train-00000-of-01024, mnist-test.tfrecord-00000-of-00001), or of its folder.
//
// # Damage
//
// Making the index verifies the checksum of each frame's length. Read verifies the data's too, View does not.
package exampletf
