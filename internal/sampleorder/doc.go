// Package sampleorder decides which sample is at which position of an epoch, and which positions
// are in a rank's batches ([RankBatches]).
//
// [New] makes a [Plan] once; [Plan.Epoch] is then the [Order] of an epoch, a
// pure function of (seed, epoch, position). So an epoch can be started at any position, by any
// number of workers and ranks, and takes a few bytes of memory; weighted sampling takes a table of 8
// bytes per sample, and a [Subset] 4.
//
// Random numbers are those of [random.NewRand] for negative sample indices, which no augmentation
// uses.
package sampleorder
