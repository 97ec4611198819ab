// Package diff compares two datasets, of any formats, sample by sample: which keys only one
// of them has, and whether the stored bytes, the pixels, the labels, the split or the user's
// columns of the others differ.
//
// Labels are compared by class name, so that datasets with different indices for the same classes
// are equal. If both datasets record the same checksum for a sample, its values are taken to be
// equal and are not read. Otherwise they are read, and images whose bytes differ are decoded to
// compare their pixels.
package diff
