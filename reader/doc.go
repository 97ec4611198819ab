// Package reader feeds batches of decoded, augmented images to a training loop from any
// [formats.Dataset].
//
// A [Loader] is opened once; [Loader.Epoch] is then a range over the batches of an epoch:
// workers decode samples straight into their places in pooled batches, a few batches
// ahead of the loop. Leaving the loop, cancelling its context and an error all stop and
// wait for every goroutine. A batch is lent for the loop's body, or longer with [Batch.Keep].
//
// # Order
//
// The order of an epoch is a function of (seed, epoch, position), see package order, and what
// a sample's augmentation draws depends on (seed, epoch, the sample's rank in its split)
// alone. So batches are the same, bit for bit, for any number of workers and any format. (Where
// an order draws samples more than once, the position takes the rank's place, or they would look
// the same each time.)
//
// Rank r of w takes, of every w*BatchSize positions, the r-th BatchSize. What is left over at
// the end is dropped with order.Drop, split without padding with order.Uneven, as an evaluation
// wants it, and otherwise split evenly, so that all ranks get the same number of batches of the
// same sizes; the fewer than w places that are too many wrap around to the epoch's first
// samples: such an entry has Index -1 and, without order.Repeat, no label. With one rank there are none: the last
// batch is just shorter.
//
// [Loader.State] after a batch is a position, which [Loader.Resume] goes on from: with other
// numbers of workers and ranks, another batch size or another format, exactly the samples that
// are left come, looking as they would have. (MixUp and CutMix mix within the global batch: for
// their pixels that must stay the same.)
//
// [Loader.Start] gives the same batches one by one, in memory of the caller's if it wants, and
// [Loader.StartList] those of a list of samples; [Loader.Pick] gives single samples.
//
// # Memory
//
// Batches are as many as Prefetch says, and the one that the loop has; workers keep their
// decoders and scratch memory. [Loader.Estimate] tells what all that will take. A packed
// dataset is mapped: what was read stays in the system's page cache, once a machine. A
// folder's files, or decoded pixels, can be kept by [Config.Cache], once a machine too.
//
// # Bad samples
//
// A sample that cannot be read, decoded or transformed ends the epoch with its key, or is
// skipped or replaced as [Config.OnError] says; then [Batch.Skipped], [Batch.Substituted] and
// [Loader.Bad] tell of it.
//
// # Speed
//
// Of a JPEG the part is decoded that the transforms use, and of a restart-tiled one the tiles
// that it lies in. Decoding is C: a worker that returns from it waits until one of GOMAXPROCS
// places is free, with its core idle. A program that loads images should set GOMAXPROCS to a
// few times the number of cores, as dsconv's command does; loading then was a third faster.
// [Loader.Clock] tells what the time is spent on.
//
// # Threads
//
// A Loader is safe for concurrent use, several epochs at once included, but for Close.
package reader
