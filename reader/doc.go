// Package reader feeds batches of decoded, augmented images to a training loop from any
// [formats.Dataset].
//
// A [Loader] is opened once; [Loader.Epoch] is then a range over the batches of an epoch:
// workers decode samples directly into pooled batches, and prefetch a few batches.
// Leaving the loop, cancelling its context and an error all stop every goroutine and
// wait for it. A batch is valid in the loop's body, longer with [Batch.Keep], and for
// ever as a [Batch.Clone]. [Pixels] and [Labels] are its images and labels.
//
//	for batch, err := range loader.Epoch(ctx, epoch) {
//		if err != nil {
//			return err
//		}
//		step(reader.Pixels[float32](batch), reader.Labels[int64](batch))
//	}
//
// # Order
//
// The order of an epoch is a function of (seed, epoch, position), see package reader/order, and the
// augmentation of a sample depends on (seed, epoch, the sample's index in its split)
// alone. So batches are the same, bit for bit, for any number of workers and any format. (If
// an order repeats samples, the position replaces the index: otherwise they would look
// the same each time.)
//
// Rank r of w takes the r-th BatchSize of every w*BatchSize positions. The samples left over at
// the end are dropped with order.Drop and split without padding with order.Uneven, for an
// evaluation. Otherwise they are split evenly, so that all ranks get the same number of batches of
// the same sizes; up to w-1 entries that have no sample left wrap around to the epoch's first
// samples: such an entry has Index -1 and, without order.Repeat, no label. With one rank there are none: the last
// batch is just shorter.
//
// [Loader.State] after a batch is a position, from which [Loader.Resume] continues. The numbers of
// workers and ranks, the batch size and the format may change: exactly the samples that are left
// come, with the same pixels. (MixUp and CutMix mix within the global batch: its size must stay the
// same for the same pixels.)
//
// [Loader.Start] gives the same batches one by one; with [RunOptions] in the caller's memory, or those
// of a list of samples. [Loader.Pick] gives single samples. With [Config.Synchronous] there are no workers:
// whoever asks for a batch loads it.
//
// [Config.Splits], [Config.Select] and [Config.Samples] choose samples. [NewConcat] loads several datasets one
// after the other; with [Config.Weights] and the order weighted, a sample of each comes as often as it should.
//
// # Views
//
// [Config.Views] makes several views of each image, for contrastive training: each has transforms of its own, and
// they are made from one read and, where that is less, one decode. [ViewPixels] are the images of one. View k draws
// as a Loader with its transforms alone and the seed [ViewSeed] would, and has the same pixels; the first view is
// what a Loader without the others makes. A sample is bad if one of its views cannot be made.
//
// # On a GPU
//
// With [DecodeOnGPU] batches lie in an NVIDIA GPU's memory: JPEGs are decoded, cropped, resized, mirrored and
// normalised there, while the workers load the next batches. [Batch.Device] is that memory. What a GPU is not for, the
// workers do as ever, and [Loader.Stats] counts what decoded the images and why. The order, the draws and the bad samples
// are the CPU's. With [Config.Deferred] images are decoded on the CPU, and cross the bus as bytes: [Batch.Rest] is what
// is left to do with them there.
//
// # Memory
//
// There are Prefetch batches and the one that the loop has; workers keep their
// decoders and scratch memory. [Loader.Estimate] returns how much memory that takes. A packed
// dataset is mapped: what was read stays in the system's page cache, once per machine. A
// folder's files, or decoded pixels, can be kept by [Config.Cache], once per machine too.
//
// # Bad samples
//
// A sample that cannot be read, decoded or transformed ends the epoch with its key, or is
// skipped or replaced as [Config.OnError] says; then [Batch.Skipped], [Batch.Substituted] and
// [Loader.Bad] count it.
//
// # Speed
//
// Only the region of a JPEG that the transforms use is decoded; of a tiled JPEG, only the tiles
// that overlap it. Decoding is C: a worker that returns from C waits, its core idle, until fewer
// than GOMAXPROCS goroutines run. A program that loads images should set GOMAXPROCS to a
// few times the number of cores, as in runtime.GOMAXPROCS(4 * runtime.GOMAXPROCS(0)); that made loading a third faster.
//
// [Loader.Clock] says where the time goes.
//
// # Threads
//
// A Loader is safe for concurrent use, several epochs at once and Close included. Close ends the epochs;
// what is called afterwards is formats.ErrClosed. Lifetimes are checked: a batch that is used after the
// loop's body, or after Release, panics with a sentence, on the caller's goroutine.
package reader
