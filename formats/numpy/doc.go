// Package numpy reads images that lie in NumPy's arrays: .npy files and .npz archives, such as keras'
// mnist.npz and MedMNIST's. It writes nothing.
//
//	ds, err := numpy.Format{}.Open("mnist.npz")
//
// A dataset is an .npz archive, an .npy file of images, or a folder of .npy files. Arrays of images have the shape
// (N, H, W), (N, H, W, C) or (N, C, H, W), C from 1 to 4, of uint8 or uint16. Labels are N integers, N floats to
// predict, or uint8 (N, classes) of 0 and 1. Which is which follows from the names: x, data, image or images; y,
// target or label, also in the plural; with train, val, valid, validation or test before or after. Labels beside NAME.npy are in
// NAME_labels.npy or labels.npy. ReadOptions.Map names others: image=pixels, label=fine.
//
// Uncompressed arrays are mapped. Compressed ones (savez_compressed) are decompressed into memory when the dataset is
// opened; all of a dataset may take 1 GiB. Arrays of Python's objects are never read. Keys are numbers: train/00000.
package numpy
