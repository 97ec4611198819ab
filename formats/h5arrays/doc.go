// Package h5arrays reads HDF5 files of encoded images that other programs wrote, such as h5py, without HDF5's library.
//
//	ds, err := h5arrays.Format{}.OpenWith(ctx, "train.h5", formats.ReadOptions{
//		Map: map[string]string{"image": "/images", "label": "/labels"},
//	})
//
// Nothing is written. The root, or a group for each split (train, val, test, ...), has
//
//   - images: named images, image, x, data, ...: N rows of variable length (h5py.vlen_dtype(np.uint8)) with image files;
//   - labels: named labels, label, y, target, ...: N numbers (floats are numbers to predict), N texts, which are
//     class names, or N rows of a byte, 0 or 1, for each class (multi-hot);
//   - class names: named classes, class_names, list_classes: texts, by index;
//   - other arrays of N rows, which become fields: numbers and texts. What cannot become one is listed as left out.
//
// A map names the paths of arrays: image=/data/pixels,label=/data/target,mask=/data/mask. With groups for the
// splits, paths are within the group. Arrays whose names begin or end with a split (train_images, y_test) belong to
// it.
//
// Images are lent from the mapped file. Of chunks, the ones used last are kept decompressed, up to 64 MiB of each array.
// Images that are arrays of pixels are not read.
package h5arrays
