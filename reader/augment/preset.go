package augment

// Train is the usual augmentation of training images: a random resized crop to size by
// size and a flip in half of the cases. Append ImageNet for normalised float32 batches.
func Train(size int) Ops {
	return Ops{RandomResizedCrop{H: size, W: size}, RandomHorizontalFlip{P: 0.5}}
}

// Eval is the usual preparation of evaluation images: the shorter side to 8/7 of size
// (256 for 224) and the middle size by size pixels. Append ImageNet for normalised
// float32 batches.
func Eval(size int) Ops {
	return Ops{Resize{Shorter: (size*8 + 3) / 7}, CenterCrop{H: size, W: size}}
}
