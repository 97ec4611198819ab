// Package cifar reads CIFAR-10 and CIFAR-100 as they were published, in the binary version
// (cifar-10-batches-bin, cifar-100-binary) and in the version for Python (cifar-10-batches-py,
// cifar-100-python). It writes nothing.
//
//	ds, err := cifar.Format{}.Open("data/cifar-10-batches-py")
//
// A dataset is such a folder, or a folder that has one of them. Images are raw uint8 of shape (32, 32, 3). The
// splits are train and test. The keys are numbers in the order of the files: train/00000, so that both versions have
// the same ones; the version for Python also has a column filename. The label of CIFAR-100 is the fine one, and the
// field coarse is the coarse one.
//
// The files are read from mapped memory. Pickles are read as values; nothing in them is called.
package cifar
