//go:build cgo

package codec

/*
#cgo CFLAGS: -O3 -Wall
#cgo LDFLAGS: -ltiff
#cgo LDFLAGS: -lwebpdemux -lwebp
#include "tiff_decode.h"
#include "webp_decode.h"
*/
import "C"

import (
	"context"
	"fmt"
	"math"
	"unsafe"

	"github.com/dsconv/dsconv/internal/image/budget"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// rawTIFF decodes the samples of a TIFF of kind k to dst, which has k.rawBytes.
func rawTIFF(dst, data []byte, k *tiffKind, stop *pixel.Stop) error {
	r := C.dsconv_tiff_request{
		w: C.uint32_t(k.w), h: C.uint32_t(k.h), row: C.uint64_t(k.rowBytes()), planes: C.uint32_t(k.planes),
		max_block: C.uint64_t(min(k.block, math.MaxInt32)), max_alloc: C.uint64_t(max(budget.UnreservedBytes, uint64(budget.Allowance(len(data))), min(k.block, math.MaxInt32))),
	}
	if k.colors == tiffRGBX {
		r.rgba = 1
	}
	if k.colors == tiffFromJPEG {
		r.jpeg_rgb = 1
	}
	var message [256]C.char
	status := C.dsconv_tiff_decode((*C.uint8_t)(unsafe.SliceData(data)), C.size_t(len(data)), &r,
		(*C.uint8_t)(unsafe.SliceData(dst)), (*C.uint32_t)(stop.Flag()), &message[0])
	said := C.GoString(&message[0])
	if said == "" {
		said = "its strips or tiles do not fit its tags"
	}
	switch status {
	case C.DSCONV_TIFF_OK:
		return nil
	case C.DSCONV_TIFF_TRUNCATED:
		return fmt.Errorf("%w: libtiff: %s", pixel.ErrTruncated, said)
	case C.DSCONV_TIFF_MEMORY:
		return fmt.Errorf("%w: libtiff", pixel.ErrMemory)
	case C.DSCONV_TIFF_UNSUPPORTED:
		return fmt.Errorf("%w: TIFF compression %d, which this libtiff was built without", pixel.ErrUnsupported, k.compression)
	case C.DSCONV_TIFF_STOPPED:
		return context.Canceled
	}
	return fmt.Errorf("%w: libtiff: %s", pixel.ErrCorrupt, said)
}

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
