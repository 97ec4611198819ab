package codec

import "github.com/dsconv/dsconv/preprocess/pixel"

// MaskOptions is how masks are decoded, in a pack and in a Loader: with their own channels and depth, and the
// indices of a palette image or of single bits.
func MaskOptions() DecodeOptions { return DecodeOptions{Color: pixel.ColorKeep, Indices: true} }
