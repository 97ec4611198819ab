//go:build !cgo

package codec

import "github.com/dsconv/dsconv/preprocess/pixel"

// webpPixels decodes the first frame of data to its position on dst, a canvas of 3 or 4 channels.
func webpPixels(dst *pixel.Image, _ []byte, f webpFrame) error { return goWebPixels(dst, f) }
