// Package verify checks a dataset against everything that is recorded about it: the checksum of
// every block of every file; and the key, order, location, size, encoding, label and checksum of every
// sample.
package verify
