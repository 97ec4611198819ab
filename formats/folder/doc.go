// Package folder reads what users start from: images in class folders, as torchvision's
// ImageFolder does, or images listed by a table of labels. It is read-only: the "before"
// of every comparison.
//
// Which file belongs to which class and split:
//
//   - If all first-level folders are named train, val, valid, validation or test, they are
//     splits and their subfolders are classes, with one table of classes for all.
//   - Else first-level folders are classes; images deeper down belong to the first level.
//   - Without folders the images have no label.
//   - A table of labels replaces the folders' meaning for labels, not for splits.
//
// Class indices are those of ImageFolder.class_to_idx: names in bytewise order, which for
// UTF-8 is the order of Python's sorted.
package folder
