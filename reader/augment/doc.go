// Package augment has the transforms of a Loader: ops that crop, pad, resize, flip, rotate, recolor,
// normalize and erase images on their way into a batch, and MixUp and CutMix.
//
//	ops, err := augment.Parse("rrc:224,flip,jitter:0.4,normalize") // or augment.Train(224)
//	if err != nil {
//		return err
//	}
//	config := reader.Config{BatchSize: 64, Transforms: ops, DType: formats.Float32}
//
// [Syntax] lists what [Parse] reads; each op is also a type, such as [RandomResizedCrop]. [Train] and
// [Eval] are the usual lists. They have the semantics and the distributions of torchvision.transforms on
// PIL images. What they draw comes from a generator keyed by (seed, epoch, sample), see [random.Rand],
// never from a worker: an epoch's pixels are the same for any number of workers, ranks and any format.
//
// # Ops of one's own
//
// [Func] changes pixels by a function. A type with the methods of [Op] adds crops, flips, resizes and other
// steps to [Steps]; masks and boxes follow these. Both stand in a list beside the ops of this package:
//
//	config.Transforms = append(config.Transforms, augment.Func{Name: "darken", Apply: darken})
//
// # How it works
//
// An op does not touch pixels: it adds to the [Steps] of an image. A [Runner] then carries these out in as
// few passes over the pixels as possible, with exactly the result of applying the ops one after another. A
// crop before a resize is the source region of the resample; a crop after it, flips, normalization, layout
// and element type are part of the last pass, which writes into the batch. So RandomResizedCrop, flips and
// Normalize are one resample and one store; no op at all is one copy. Rotations by right angles move whole
// pixels; others resample the image once more, the part alone that is cropped afterwards. Successive color
// changes are one call, on what the crops left.
//
// Extra fields follow the same steps: images by [Runner.Apply], after [Steps.Widen]; masks by
// [Runner.Mask], which takes the nearest pixel and keeps values; boxes by [Steps.Boxes]. As in
// torchvision.transforms.v2, RandomErasing does not change masks and boxes. Unlike there, masks are
// 0 outside the image, whatever the fill is.
//
// [Pipeline] and [Runner] are for package reader. A Pipeline is safe for concurrent use; a Runner belongs
// to one goroutine.
package augment
