package jpeg

import "github.com/dsconv/dsconv/preprocess/pixel"

// EncodeOptions are how a JPEG is encoded; see Encode.
type EncodeOptions struct {
	Quality               int
	Sampling              pixel.Sampling
	Optimize, Progressive bool
	Interval              int
}
