// Package checksum has the checksums of a dataset: a CRC-32C for each 1 MiB block of each file, in a
// table with a checksum of its own ([Checksums]), and XXH3-128 of each sample ([SampleChecksum]).
package checksum
