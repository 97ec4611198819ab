// Package parity certifies that dsconv's pixels are Pillow's. It makes dsconv's images of each
// sample on every path that pixels take: the decoding of the source, the recipe's resize, what is
// stored, and the crops that a reader takes of it. A Python process makes the same images with
// Pillow, and with torchvision where that is installed, compares them and writes the certificate:
// python/src/dsconv/_parity.
//
// The default paths differ by 0. What was asked for by name and is not exact, such as a
// lossy encoding, is measured.
package parity
