//go:build cgo

package jpeg

/*
#cgo CFLAGS: -O3 -Wall
#cgo LDFLAGS: -ljpeg
#include "libjpeg.h"
#include "transcode.h"
*/
import "C"

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// DecoderName is the JPEG decoder of this build: "libjpeg-turbo", or "none" without cgo.
const DecoderName = "libjpeg-turbo"

// HasLibjpegTurbo reports whether this build has cgo. Without it, images are kept as they are.
const HasLibjpegTurbo = true

// Decoder holds a libjpeg-turbo handle, created at the first image.
type Decoder struct {
	c    *C.dsconv_jpeg_decoder
	Stop *pixel.Stop
}

// stopFlag is the flag of s as C takes it.
func stopFlag(s *pixel.Stop) *C.uint32_t { return (*C.uint32_t)(s.Flag()) }

// libjpegError converts a code other than OK to an error; text is libjpeg's message.
func libjpegError(rc C.int, text *C.char) error {
	switch rc {
	case C.DSCONV_TRUNCATED:
		return fmt.Errorf("%w: %s", pixel.ErrTruncated, C.GoString(text))
	case C.DSCONV_MEMORY:
		return fmt.Errorf("%w: libjpeg: %s", pixel.ErrMemory, C.GoString(text))
	case C.DSCONV_LIBRARY:
		return fmt.Errorf("%w: %s", pixel.ErrLibrary, C.GoString(text))
	case C.DSCONV_STOPPED:
		return fmt.Errorf("JPEG: %w", context.Canceled)
	case C.DSCONV_SCANS:
		return ErrScans
	}
	return fmt.Errorf("%w: %s", pixel.ErrCorrupt, C.GoString(text))
}

// SlowJPEG says why the JPEG decoder is slower than it could be, "" if it is not. Its pixels are
// the same.
func SlowJPEG() string { return C.GoString(C.dsconv_jpeg_slow_reason()) }

// Decode decodes the region of data that r asks for to dst. The warning is libjpeg's first, "" if
// there was none.
func (d *Decoder) Decode(dst *pixel.Image, data []byte, r Request) (warning string, err error) {
	if d.c == nil {
		if d.c = C.dsconv_jpeg_decoder_new(); d.c == nil {
			return "", fmt.Errorf("%w: JPEG decoder", pixel.ErrMemory)
		}
	}
	dst.Reset(r.Region.H, r.Region.W, r.Channels, formats.Uint8)
	request := C.dsconv_jpeg_request{
		w: C.uint32_t(r.W), h: C.uint32_t(r.H), channels: C.int(r.Channels), scale: C.int(r.Scale),
		x: C.uint32_t(r.Region.X), y: C.uint32_t(r.Region.Y), region_w: C.uint32_t(r.Region.W), region_h: C.uint32_t(r.Region.H),
	}
	request.fast, request.libjpeg_only = cInt(r.Fast), cInt(r.LibjpegOnly)
	rc := C.dsconv_jpeg_decode(d.c, (*C.uint8_t)(unsafe.SliceData(data)), C.size_t(len(data)),
		(*C.uint8_t)(unsafe.SliceData(dst.Pix)), &request, stopFlag(d.Stop))
	switch rc {
	case C.DSCONV_OK:
		return "", nil
	case C.DSCONV_OK | C.DSCONV_WARNED:
		return C.GoString(C.dsconv_jpeg_decoder_warning(d.c)), nil
	}
	return "", libjpegError(rc, C.dsconv_jpeg_decoder_error(d.c))
}

// Close frees the C memory. The value may be used again.
func (d *Decoder) Close() {
	C.dsconv_jpeg_decoder_free(d.c)
	d.c = nil
}

// Encoder holds a libjpeg-turbo handle, created at the first image.
type Encoder struct {
	c    *C.dsconv_jpeg_encoder
	Stop *pixel.Stop
}

// Encode appends m, uint8 with 1 or 3 channels, to dst.
func (e *Encoder) Encode(dst []byte, m *pixel.Image, o EncodeOptions) ([]byte, error) {
	if e.c == nil {
		var wrongLibrary C.int
		switch e.c = C.dsconv_jpeg_encoder_new(&wrongLibrary); {
		case wrongLibrary != 0:
			return dst, pixel.ErrLibrary
		case e.c == nil:
			return dst, fmt.Errorf("%w: JPEG encoder", pixel.ErrMemory)
		}
	}
	h, v := lumaSampling(o.Sampling, m.C)
	options := C.dsconv_jpeg_options{
		quality: C.int(o.Quality), h: C.int(h), v: C.int(v), optimize: cInt(o.Optimize), progressive: cInt(o.Progressive),
	}
	if o.Interval > 0 {
		row := (m.W + 8*h - 1) / (8 * h)
		options.interval = C.uint(restartInterval(row, o.Interval))
	}
	var out *C.uint8_t
	var n C.size_t
	//nolint:gocritic // what cgo generates for &out and &n looks like comparing a value with itself
	rc := C.dsconv_jpeg_encode(e.c, (*C.uint8_t)(unsafe.SliceData(m.Pix)), C.uint32_t(m.W), C.uint32_t(m.H),
		C.int(m.C), options, stopFlag(e.Stop), &out, &n)
	if rc != C.DSCONV_OK {
		err := libjpegError(rc, C.dsconv_jpeg_encoder_error(e.c))
		if pixel.EndsRun(err) {
			return dst, fmt.Errorf("encode: %w", err)
		}
		return dst, fmt.Errorf("encode JPEG: %s", C.GoString(C.dsconv_jpeg_encoder_error(e.c))) // no file is damaged
	}
	return append(dst, unsafe.Slice((*byte)(out), int(n))...), nil
}

// lumaSampling returns how many luma blocks an MCU of an image of so many channels has, across and down.
func lumaSampling(s pixel.Sampling, channels int) (h, v int) {
	switch {
	case channels == 1 || s == pixel.Sampling444:
		return 1, 1
	case s == pixel.Sampling422:
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

// Close frees the C memory. The value may be used again.
func (e *Encoder) Close() {
	C.dsconv_jpeg_encoder_free(e.c)
	e.c = nil
}

// DecoderVersion is the version of the decoder that DecoderName names.
func DecoderVersion() string { return C.GoString(C.dsconv_jpeg_version()) }

// jpegTranscoder holds the memory of libjpeg-turbo and the Huffman coder, allocated at the first
// image.
type jpegTranscoder struct {
	c    *C.dsconv_transcoder
	stop *pixel.Stop
}

// append appends src's coefficients as one scan with a restart marker every interval MCUs,
// after the marker segments meta.
func (t *jpegTranscoder) append(dst, src, meta []byte, interval int) ([]byte, error) {
	if t.c == nil {
		if t.c = C.dsconv_transcoder_new(); t.c == nil {
			return dst, fmt.Errorf("%w: JPEG transcoder", pixel.ErrMemory)
		}
	}
	var out *C.uint8_t
	var n C.size_t
	//nolint:gocritic // what cgo generates for &out and &n looks like comparing a value with itself
	rc := C.dsconv_transcode(t.c, (*C.uint8_t)(unsafe.SliceData(src)), C.size_t(len(src)),
		(*C.uint8_t)(unsafe.SliceData(meta)), C.size_t(len(meta)), C.uint(interval), stopFlag(t.stop), &out, &n)
	switch rc {
	case C.DSCONV_OK:
		return append(dst, unsafe.Slice((*byte)(out), int(n))...), nil
	case C.DSCONV_CORRUPT:
		return dst, &NotTiledError{Reason: ReasonDamaged, detail: C.GoString(C.dsconv_transcoder_text(t.c))}
	case C.TRANSCODE_BEYOND:
		return dst, &NotTiledError{Reason: reasonRange, detail: C.GoString(C.dsconv_transcoder_text(t.c))}
	case C.DSCONV_SCANS:
		return dst, &NotTiledError{Reason: ReasonScans}
	case C.TRANSCODE_DIFFERS:
		return dst, fmt.Errorf("tile JPEG: the written file does not read back as the source: %s", C.GoString(C.dsconv_transcoder_text(t.c)))
	}
	return dst, fmt.Errorf("tile: %w", libjpegError(rc, C.dsconv_transcoder_text(t.c)))
}

func (t *jpegTranscoder) close() {
	C.dsconv_transcoder_free(t.c)
	t.c = nil
}
