// Package reader feeds batches of decoded, augmented images to a training loop from any
// [formats.Dataset].
//
// A [Loader] is opened once; [Loader.Epoch] is then a range over the batches of an epoch:
// workers decode samples straight into their places in pooled batches, a few batches
// ahead of the loop. Leaving the loop, cancelling its context and an error all stop and
// wait for every goroutine.
//
// # Order
//
// The order of an epoch is a keyed permutation of (seed, epoch, position), and what a
// sample's augmentation draws depends on (seed, epoch, the sample's rank in its split)
// alone. So batches are the same, bit for bit, for any number of workers and any format.
//
// Rank r of w takes, of every w*BatchSize positions, the r-th BatchSize. The samples that
// are left over at the end are dropped with DropLast; otherwise they are split evenly, so
// that all ranks get the same number of batches of the same sizes, and the fewer than w
// places that are too many wrap around to the epoch's first samples: such an entry has
// Index -1 and label -1. With one rank there are none: the last batch is just shorter.
//
// # Speed
//
// Of a JPEG the part is decoded that the transforms use, and of a restart-tiled one the tiles
// that it lies in. Decoding is C: a worker that returns from it waits until one of GOMAXPROCS
// places is free, with its core idle. A program that loads images should set GOMAXPROCS to a
// few times the number of cores, as dsconv's command does; loading then was a third faster.
//
// # Threads
//
// A Loader is safe for concurrent use, several epochs at once included, but for Close.
package reader
