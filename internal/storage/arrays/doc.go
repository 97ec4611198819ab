// Package arrays is the formats.Dataset of images that lie one after another in arrays, all of one shape, such as
// those of IDX, CIFAR and NumPy files. Pixels are lent from mapped files; nothing is kept for each sample.
package arrays
