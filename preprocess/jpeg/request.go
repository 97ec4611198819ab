package jpeg

import "github.com/dsconv/dsconv/preprocess/pixel"

// Request says what of a JPEG is decoded, and how.
type Request struct {
	W, H     int        // of the whole image
	Channels int        // 1 or 3
	Scale    int        // 1, 2, 4 or 8: the image is decoded so many times smaller
	Part     pixel.Rect // of the scaled image
	Fast     bool
	Plain    bool // by libjpeg alone, to compare with
}
