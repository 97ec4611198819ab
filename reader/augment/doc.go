// Package augment turns a decoded image into one entry of a batch: crops, resizes,
// flips, colours, normalises.
//
// The ops have the semantics and the distributions of torchvision.transforms on PIL
// images. What they draw comes from a counter-based generator keyed by (seed, epoch,
// sample), see [Rand], never from a worker: an epoch's pixels are the same for any number
// of workers, ranks and any format.
//
// An [Op] only plans: it tells a [Plan] what to crop, resize, flip and adjust. A [Runner]
// then carries the plan out with as few passes over the pixels as give exactly what the
// ops one after another would give. A crop before a resize is a window of the one
// resample; a crop after it, a flip, the normalisation, layout and element type are part
// of the last pass, which writes into the batch. RandomResizedCrop, flip and Normalize
// are so one resample and one store; no op at all is one copy.
//
// A [Pipeline] is safe for concurrent use; a Runner belongs to one goroutine.
package augment
