//go:build cgo

package preprocess

/*
#cgo CFLAGS: -O3 -Wall
#cgo LDFLAGS: -ljpeg
#include "jpeg_turbo.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/dsconv/dsconv/formats"
)

// DecoderName says which JPEG decoder is built in: "libjpeg-turbo", whose pixels are
// Pillow's, or "image/jpeg", whose pixels are a little off.
const DecoderName = "libjpeg-turbo"

// jpegDecoder holds a libjpeg-turbo handle, made at the first image.
type jpegDecoder struct{ c *C.dsconv_jpeg_decoder }

// decode writes the pixels of data, whose header is h, to dst with 1 or 3 channels. The
// warning is libjpeg's first, "" if there was none.
func (d *jpegDecoder) decode(dst *Image, data []byte, h Header, channels int) (warning string, err error) {
	if d.c == nil {
		if d.c = C.dsconv_jpeg_decoder_new(); d.c == nil {
			return "", errors.New("libjpeg: no memory for a decoder")
		}
	}
	dst.Reset(h.H, h.W, channels, formats.Uint8)
	rc := C.dsconv_jpeg_decode(d.c, (*C.uint8_t)(unsafe.SliceData(data)), C.size_t(len(data)),
		(*C.uint8_t)(unsafe.SliceData(dst.Pix)), C.uint32_t(h.W), C.uint32_t(h.H), C.int(channels))
	switch rc {
	case C.DSCONV_OK:
		return "", nil
	case C.DSCONV_OK | C.DSCONV_WARNED:
		return C.GoString(C.dsconv_jpeg_decoder_warning(d.c)), nil
	case C.DSCONV_TRUNCATED:
		return "", fmt.Errorf("%w: %s", ErrTruncated, C.GoString(C.dsconv_jpeg_decoder_error(d.c)))
	}
	return "", fmt.Errorf("%w: %s", ErrCorrupt, C.GoString(C.dsconv_jpeg_decoder_error(d.c)))
}

func (d *jpegDecoder) close() {
	C.dsconv_jpeg_decoder_free(d.c)
	d.c = nil
}

// jpegEncoder holds a libjpeg-turbo handle, made at the first image.
type jpegEncoder struct{ c *C.dsconv_jpeg_encoder }

// encode appends m, uint8 with 1 or 3 channels, to dst.
func (e *jpegEncoder) encode(dst []byte, m *Image, quality int) ([]byte, error) {
	if e.c == nil {
		if e.c = C.dsconv_jpeg_encoder_new(); e.c == nil {
			return dst, errors.New("libjpeg: no encoder: out of memory, or built for another version of the library")
		}
	}
	var out *C.uint8_t
	var n C.size_t
	//nolint:gocritic // what cgo generates for &out and &n looks like comparing a thing with itself
	rc := C.dsconv_jpeg_encode(e.c, (*C.uint8_t)(unsafe.SliceData(m.Pix)), C.uint32_t(m.W), C.uint32_t(m.H),
		C.int(m.C), C.int(quality), &out, &n)
	if rc != C.DSCONV_OK {
		return dst, fmt.Errorf("encode JPEG: %s", C.GoString(C.dsconv_jpeg_encoder_error(e.c)))
	}
	return append(dst, unsafe.Slice((*byte)(out), int(n))...), nil
}

func (e *jpegEncoder) close() {
	C.dsconv_jpeg_encoder_free(e.c)
	e.c = nil
}
