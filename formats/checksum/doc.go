// Package checksum has the checksums of a dataset: a CRC-32C for each 1 MiB block of each file, in a
// table that checks itself ([Sums]), and one for each sample ([Sum]).
package checksum
