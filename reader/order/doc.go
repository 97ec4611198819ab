// Package order says which sample stands at which position of an epoch, and which positions
// are a rank's batches.
//
// A [Plan] is made once, by [New] or [PlanMixture]; [Plan.Epoch] is then the [Order] of an epoch, a
// pure function of (seed, epoch, position). So an epoch can be begun anywhere, by any number
// of workers and ranks, and nothing is kept but a few words; weighted draws keep a table of 8
// bytes a sample, and a [Subset] or an order of storage 4.
//
// A [RankBatches] is a rank's part of the positions.
//
// Random numbers are [augment.NewRand]'s, of samples below 0: no sample of a dataset draws
// them for its augmentation.
package order
