// Package trainer is the reference trainer: it trains small networks on the batches of a
// [Loader] and reports, for each epoch, how long the step waited for data and how long it
// computed. It shows how a dataset's format changes the time of an epoch, with a step that
// is the same for all formats.
//
//	result, err := trainer.Run(ctx, train, val, trainer.Config{Model: trainer.ModelCNN, Epochs: 3})
//	...
//	for _, e := range result.Epochs {
//		fmt.Println(e.Number, e.Val.Accuracy, "waited", e.WaitSeconds, "of", e.Seconds)
//	}
//
// The models are built with GoMLX and run on its pure-Go backend, or on XLA through a
// PJRT plugin (see [Config.Backend]); XLA needs cgo and a plugin that is already on
// disk: nothing is downloaded.
//
// [Run] trains for some epochs. It uses [Trainer], whose [Trainer.Step] takes a
// single batch, for callers with their own loop. A graph is compiled for each batch that is
// larger than all before; smaller batches, such as an epoch's last, are padded and masked.
//
// Batches are NHWC. Batches of uint8 are copied as they are and normalised in the graph,
// (x-127.5)/64; batches of float32 must be normalised already. Samples whose index is
// -1 are padding: loss and accuracy ignore them.
//
// Labels may be mixed (reader.Batch's Soft): accuracy then counts the largest share.
//
// On the pure-Go backend two runs with the same seed over the same batches give the same
// bits, on any number of cores. With [Checkpointing] a stopped or killed run resumes where it
// was and ends with the bits of an uninterrupted run: a checkpoint has the weights, Adam's
// state, the loader's position in the epoch and the epoch's sums so far.
// [Trainer.Save] and [Trainer.Load] do that for callers with their own loop.
//
// Nothing is printed; panics of GoMLX are returned as errors.
package trainer
