// Package geometry moves images, and the masks and boxes that belong to them. It is the only place that knows
// how: a pack resizes by it, and a Loader crops, flips, pads, resizes and rotates by it.
//
// A [Path] is planned from the size of a sample's designated image alone: an EXIF orientation, then steps. A
// [Mover] carries it out on pixels, of the designated image or of masks and extra images that follow; [Path.Boxes]
// does the same to boxes. What a step means is what torchvision.transforms.v2 means by it on tv_tensors.
//
// A Path and a Mover belong to one goroutine.
package geometry
