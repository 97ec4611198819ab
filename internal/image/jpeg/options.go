package jpeg

import "github.com/dsconv/dsconv/preprocess/pixel"

// EncodeOptions are how a JPEG is encoded; see Encode.
type EncodeOptions struct {
	Quality               int
	Sampling              pixel.Sampling
	Optimize, Progressive bool
	Interval              int
}

// Request is the region of a JPEG to decode, and how.
type Request struct {
	W, H        int        // of the whole image
	Channels    int        // 1 or 3
	Scale       int        // 1, 2, 4 or 8: the image is scaled down by so much
	Region      pixel.Rect // of the scaled image
	Fast        bool
	LibjpegOnly bool // without our Huffman decoder, for tests to compare with
}
