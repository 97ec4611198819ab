// Package folder reads the images that users start from: in class folders, like torchvision's
// ImageFolder, or listed in a table of labels. It is read-only. The folder is one of the disk, or a Tree, such as an archive:
//
//	ds, err := folder.Open(ctx, "photos", folder.Config{})
//	...
//	defer ds.Close()
//	fmt.Println(ds.Len(), "images", ds.Meta().Classes())
//
//	other, err := folder.OpenTree(ctx, archive, folder.Config{Labels: "labels.csv"})
//
// The class and split of a file:
//
//   - If all first-level folders are named train, val, valid, validation or test, they are
//     splits and their subfolders are classes, with the same class indices in all splits.
//   - Otherwise first-level folders are classes; images in deeper folders belong to the first
//     level.
//   - If all images of a split are in a folder called images or similar, and other splits have classes,
//     that folder is no class, and its images have no label.
//   - Without folders the images have no label.
//   - Folders without images are no classes, and neither are hidden and system folders, such as .git,
//     .ipynb_checkpoints and __MACOSX. Images in those are left out: see Dataset.SystemFolders.
//   - A table of labels replaces class folders, but not split folders.
//
// Class indices are those of ImageFolder.class_to_idx: names in bytewise order, which for
// UTF-8 is the order of Python's sorted.
package folder
