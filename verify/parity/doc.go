// Package parity certifies that dsconv's pixels are Pillow's: it has Pillow, and torchvision
// where that is installed, make the same images in a process beside it and compares them,
// sample by sample, on every path that pixels take: the decoding of the source, the recipe's
// resize, what is stored, and the crops that a reader takes of it.
//
// The default paths differ by 0. What was asked for by name and is not exact, such as a
// lossy encoding, is measured.
package parity
