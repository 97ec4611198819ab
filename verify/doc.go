// Package verify checks a dataset against everything that was written down about it: the
// checksum of every block of every file, and of every sample key, order, place, size,
// encoding, label and checksum.
package verify
