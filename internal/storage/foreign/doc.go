// Package foreign reads datasets that other programs wrote, where they lie. A format gives a [Source]: the
// data files, a scan that finds the samples in them, and what a value's bytes mean. [Open] makes an index of
// the samples once, in the user's cache, and returns a dataset that lends values from the mapped files.
//
// The index is that of one state of the files: their names, sizes, times and inodes, the options and the
// format's version of reading. Other files have another index, so a changed file is never read by an old
// one. A file that is changed in place while the dataset is open is an error of each sample in it.
//
// The order of the samples is that of their keys. Keys that occur in several files get the name of their
// file in front, all keys of the dataset do then. A key that occurs twice in one file is one sample if it has
// different values each time, and an error otherwise.
package foreign
