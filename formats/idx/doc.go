// Package idx reads the files of MNIST and its relatives (Fashion-MNIST, KMNIST, EMNIST) as they were
// published: train-images-idx3-ubyte and train-labels-idx1-ubyte, also with a dot before idx and
// compressed with gzip. It writes nothing.
//
//	ds, err := idx.Format{}.Open("MNIST/raw")
//
// A dataset is a folder of such files, a folder that has them in raw/ or MNIST/raw/ as torchvision's
// download does, or one file of images, whose labels lie beside it. Images are raw uint8 of shape
// (H, W, 1), or (H, W, C) from idx4 files. The splits are train and test (t10k). The keys are numbers in the
// order of the file: train/00000. Classes are named by their numbers.
//
// A file is read from mapped memory. A compressed one is decompressed into memory when the dataset is
// opened; all of a dataset may take 1 GiB.
package idx
