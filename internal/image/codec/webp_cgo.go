//go:build cgo

package codec

/*
#cgo CFLAGS: -O3 -Wall
#cgo LDFLAGS: -lwebpdemux -lwebp
#include "webp_decode.h"
*/
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/dsconv/dsconv/preprocess/pixel"
)

// webpPixels decodes the first frame of data to its position on dst, a canvas of 3 or 4 channels.
// libwebp finds it, and checks the other frames' chunks.
func webpPixels(dst *pixel.Image, data []byte) error {
	switch C.dsconv_webp_decode((*C.uint8_t)(unsafe.SliceData(data)), C.size_t(len(data)),
		(*C.uint8_t)(unsafe.SliceData(dst.Pix)), C.uint32_t(dst.W), C.uint32_t(dst.H), C.int(dst.C)) {
	case C.DSCONV_WEBP_OK:
		return nil
	case C.DSCONV_WEBP_TRUNCATED:
		return fmt.Errorf("%w: inside the WebP's pixels", pixel.ErrTruncated)
	case C.DSCONV_WEBP_MEMORY:
		return fmt.Errorf("%w: libwebp", pixel.ErrMemory)
	}
	return fmt.Errorf("%w: libwebp finds no valid image", pixel.ErrCorrupt)
}
