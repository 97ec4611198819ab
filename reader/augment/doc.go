// Package augment turns a decoded image into one entry of a batch: crops, pads, resizes,
// flips, rotates, colours, normalises, erases. [Syntax] lists the ops.
//
// The ops have the semantics and the distributions of torchvision.transforms on PIL
// images. What they draw comes from a counter-based generator keyed by (seed, epoch,
// sample), see [random.Rand], never from a worker: an epoch's pixels are the same for any number
// of workers, ranks and any format.
//
// An [Op] only plans: it adds crops, resizes, flips and colour changes to a [Steps]. A [Runner] then
// carries the plan out in as few passes over the pixels as possible, with exactly the result of
// applying the ops one after another. A crop before a resize is the source region of the
// resample; a crop after it, flips, normalisation, layout and element type are part of the last
// pass, which writes into the batch. So RandomResizedCrop, flips and Normalize are one resample
// and one store; no op at all is one copy. Rotations by right angles move whole pixels; others
// resample the image once more. Successive colour changes are one call, on what the crops left.
//
// Extra fields follow the same plan: images by [Runner.Apply], after [Steps.Widen]; masks by
// [Runner.Mask], which takes the nearest pixel and keeps values; boxes by [Steps.Boxes]. As in
// torchvision.transforms.v2, RandomErasing does not change masks and boxes. Unlike there, masks are
// 0 outside the image, whatever the fill is.
//
// A [Pipeline] is safe for concurrent use; a Runner belongs to one goroutine.
package augment
