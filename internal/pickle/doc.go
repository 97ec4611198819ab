// Package pickle reads Python's pickles, protocols 0 to 5, without running anything of them. A pickle is a
// program that may call any function of Python; this package knows only values:
//
//	None               nil
//	bool, int, float   bool, int64 (more bits are an error), float64
//	str                string
//	bytes, bytearray, and str of Python 2   []byte, a part of the pickle where that is possible
//	list, tuple        *List, Tuple
//	dict, OrderedDict  *Dict
//	numpy.ndarray      *Array; numbers of NumPy are int64, float64 or bool
//
// Every other class or function is an error that names it; so are persistent IDs, registered extensions and buffers
// outside of the pickle.
//
// The package is small because the libraries for Go (github.com/kisielk/og-rek, github.com/nlpodyssey/gopickle)
// copy all bytes, of which CIFAR's files have 30 MB each, and have no limit for the memory that a pickle may take.
package pickle
