// Package trainer is the reference trainer on a reader: small networks that learn from
// the batches of a [Loader] and tell, for each epoch, how long the step waited for data
// and how long it computed. It exists to show what a dataset's format does to the time
// of an epoch, with a step that is the same whatever the batches come from.
//
// The models are built with GoMLX and run on its pure-Go backend, or on XLA through a
// PJRT plugin (see [Config.Backend]); XLA needs cgo and a plugin that is already on
// disk: nothing is downloaded.
//
// [Run] trains for some epochs. Under it is the [Trainer], whose [Trainer.Step] takes a
// single batch, for callers that bring their own loop. A graph is compiled once for each
// size of batch that is larger than those before; smaller batches, such as an epoch's
// last, are padded and masked.
//
// Batches are NHWC. Those of uint8 are copied as they are and normalised in the graph,
// (x-127.5)/64; those of float32 are taken as already normalised. Entries whose index is
// -1 are padding and count in neither loss nor accuracy.
//
// Labels may be mixed (reader.Batch's Soft): accuracy then counts the largest share.
//
// On the pure-Go backend two runs with the same seed over the same batches give the same
// bits, on any number of cores. With [Checkpointing] a run that was stopped or killed goes
// on where it was, and ends with the bits of one that was not: a checkpoint has the weights,
// Adam's state, the loader's place in the epoch and what the epoch has summed up so far.
// [Trainer.Save] and [Trainer.Load] do that for callers with their own loop.
//
// Nothing is printed; panics of GoMLX are returned as errors.
package trainer
