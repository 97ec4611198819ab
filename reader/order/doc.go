// Package order says how a Loader orders the samples of an epoch: [Spec], and what happens to those
// at its end that do not fill a batch: [Tail].
//
//	spec, err := order.Parse("block:256:64")
//	...
//	loader, err := dsconv.NewLoader("out.lmdb", reader.Config{BatchSize: 64, Order: spec, Tail: order.Drop})
//
// The order of an epoch is a pure function of (seed, epoch, position). So an epoch can be started at
// any position, by any number of workers and ranks, and takes a few bytes of memory; weighted
// sampling takes a table of 8 bytes per sample. [New] makes a [Plan], and [Plan.Epoch] is the [Order] of an epoch: a
// Loader does that.
//
// Random numbers are those of random.NewRand for negative sample indices, which no augmentation uses.
package order
