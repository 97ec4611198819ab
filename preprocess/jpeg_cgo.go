//go:build cgo

package preprocess

/*
#cgo CFLAGS: -O3 -Wall
#cgo LDFLAGS: -ljpeg
#include "jpeg_turbo.h"
*/
import "C"

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/dsconv/dsconv/formats"
)

// DecoderName is the JPEG decoder of this build: "libjpeg-turbo", whose pixels equal Pillow's,
// or "image/jpeg", whose pixels differ slightly.
const DecoderName = "libjpeg-turbo"

// HasLibjpegTurbo reports whether this build has libjpeg-turbo, and so can decode JPEGs fast and
// scaled (DecodeOptions.Fast), tile them, and write them with options besides their quality.
const HasLibjpegTurbo = true

// jpegDecoder holds a libjpeg-turbo handle, created at the first image.
type jpegDecoder struct {
	c    *C.dsconv_jpeg_decoder
	stop *Stop
}

// stopFlag is the flag of s as C takes it.
func stopFlag(s *Stop) *C.uint32_t { return (*C.uint32_t)(s.Flag()) }

// libjpegError converts a code other than OK to an error; text is libjpeg's message.
func libjpegError(rc C.int, text *C.char) error {
	switch rc {
	case C.DSCONV_TRUNCATED:
		return fmt.Errorf("%w: %s", ErrTruncated, C.GoString(text))
	case C.DSCONV_MEMORY:
		return fmt.Errorf("%w: libjpeg: %s", ErrMemory, C.GoString(text))
	case C.DSCONV_LIBRARY:
		return fmt.Errorf("%w: %s", ErrLibrary, C.GoString(text))
	case C.DSCONV_STOPPED:
		return fmt.Errorf("JPEG: %w", context.Canceled)
	case C.DSCONV_SCANS:
		return errScans
	}
	return fmt.Errorf("%w: %s", ErrCorrupt, C.GoString(text))
}

// SlowJPEG says why the JPEG decoder is slower than it could be, "" if it is not. Its pixels are
// the same.
func SlowJPEG() string { return C.GoString(C.dsconv_jpeg_slow_reason()) }

// decode decodes the region of data that r asks for to dst. The warning is libjpeg's first, "" if
// there was none.
func (d *jpegDecoder) decode(dst *Image, data []byte, r jpegRequest) (warning string, err error) {
	if d.c == nil {
		if d.c = C.dsconv_jpeg_decoder_new(); d.c == nil {
			return "", fmt.Errorf("%w: JPEG decoder", ErrMemory)
		}
	}
	dst.Reset(r.region.H, r.region.W, r.channels, formats.Uint8)
	request := C.dsconv_jpeg_request{
		w: C.uint32_t(r.w), h: C.uint32_t(r.h), channels: C.int(r.channels), scale: C.int(r.scale),
		x: C.uint32_t(r.region.X), y: C.uint32_t(r.region.Y), region_w: C.uint32_t(r.region.W), region_h: C.uint32_t(r.region.H),
	}
	request.fast, request.libjpeg_only = cInt(r.fast), cInt(r.libjpegOnly)
	rc := C.dsconv_jpeg_decode(d.c, (*C.uint8_t)(unsafe.SliceData(data)), C.size_t(len(data)),
		(*C.uint8_t)(unsafe.SliceData(dst.Pix)), &request, stopFlag(d.stop))
	switch rc {
	case C.DSCONV_OK:
		return "", nil
	case C.DSCONV_OK | C.DSCONV_WARNED:
		return C.GoString(C.dsconv_jpeg_decoder_warning(d.c)), nil
	}
	return "", libjpegError(rc, C.dsconv_jpeg_decoder_error(d.c))
}

func (d *jpegDecoder) close() {
	C.dsconv_jpeg_decoder_free(d.c)
	d.c = nil
}

// jpegEncoder holds a libjpeg-turbo handle, created at the first image.
type jpegEncoder struct {
	c    *C.dsconv_jpeg_encoder
	stop *Stop
}

// encode appends m, uint8 with 1 or 3 channels, to dst.
func (e *jpegEncoder) encode(dst []byte, m *Image, o encodeOptions) ([]byte, error) {
	if e.c == nil {
		var wrongLibrary C.int
		switch e.c = C.dsconv_jpeg_encoder_new(&wrongLibrary); {
		case wrongLibrary != 0:
			return dst, ErrLibrary
		case e.c == nil:
			return dst, fmt.Errorf("%w: JPEG encoder", ErrMemory)
		}
	}
	h, v := o.sampling.luma(m.C)
	options := C.dsconv_jpeg_options{
		quality: C.int(o.quality), h: C.int(h), v: C.int(v), optimize: cInt(o.optimize), progressive: cInt(o.progressive),
	}
	if o.interval > 0 {
		row := (m.W + 8*h - 1) / (8 * h)
		options.interval = C.uint(restartInterval(row, o.interval))
	}
	var out *C.uint8_t
	var n C.size_t
	//nolint:gocritic // what cgo generates for &out and &n looks like comparing a value with itself
	rc := C.dsconv_jpeg_encode(e.c, (*C.uint8_t)(unsafe.SliceData(m.Pix)), C.uint32_t(m.W), C.uint32_t(m.H),
		C.int(m.C), options, stopFlag(e.stop), &out, &n)
	if rc != C.DSCONV_OK {
		err := libjpegError(rc, C.dsconv_jpeg_encoder_error(e.c))
		if EndsRun(err) {
			return dst, fmt.Errorf("encode: %w", err)
		}
		return dst, fmt.Errorf("encode JPEG: %s", C.GoString(C.dsconv_jpeg_encoder_error(e.c))) // no file is damaged
	}
	return append(dst, unsafe.Slice((*byte)(out), int(n))...), nil
}

// luma returns how many luma blocks an MCU of an image of so many channels has, across and down.
func (s Sampling) luma(channels int) (h, v int) {
	switch {
	case channels == 1 || s == Sampling444:
		return 1, 1
	case s == Sampling422:
		return 2, 1
	}
	return 2, 2
}

func cInt(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

func (e *jpegEncoder) close() {
	C.dsconv_jpeg_encoder_free(e.c)
	e.c = nil
}
