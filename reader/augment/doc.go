// Package augment turns a decoded image into one entry of a batch: crops, pads, resizes,
// flips, rotates, colours, normalises, erases. [Syntax] lists the ops.
//
// The ops have the semantics and the distributions of torchvision.transforms on PIL
// images. What they draw comes from a counter-based generator keyed by (seed, epoch,
// sample), see [Rand], never from a worker: an epoch's pixels are the same for any number
// of workers, ranks and any format.
//
// An [Op] only plans: it tells a [Plan] what to crop, resize, flip and recolour. A [Runner]
// then carries the plan out with as few passes over the pixels as give exactly what the
// ops one after another would give. A crop before a resize is a window of the one
// resample; a crop after it, flips, the normalisation, layout and element type are part
// of the last pass, which writes into the batch. RandomResizedCrop, flips and Normalize
// are so one resample and one store; no op at all is one copy. Turns by right angles move
// whole pixels; other rotations sample the image once more. Changes of colours in a row are one
// call, on what is left of the image by then.
//
// What belongs to the image follows by the same plan: further images by [Runner.Apply], after
// [Plan.Widen]; masks by [Runner.Mask], which takes the nearest pixel and leaves values alone;
// boxes by [Plan.Boxes]. As in torchvision.transforms.v2, RandomErasing passes masks and boxes
// by. Unlike there, what a mask gets from outside of the image is 0 whatever the fill is.
//
// A [Pipeline] is safe for concurrent use; a Runner belongs to one goroutine.
package augment
