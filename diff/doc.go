// Package diff compares two datasets, of any formats, sample by sample: which keys only one
// of them has, and of the others whether the stored bytes, the pixels, the labels, the split
// or the user's columns differ.
//
// Labels are compared by their classes' names, so that datasets with other indices for the
// same classes are equal. Where both datasets keep the same checksum for a sample its values
// are taken to be equal and are not read; else they are read, and images of other bytes are
// decoded to tell whether the pixels are others too.
package diff
