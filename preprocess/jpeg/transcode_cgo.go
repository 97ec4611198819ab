//go:build cgo

package jpeg

/*
#include "transcode.h"
*/
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/dsconv/dsconv/preprocess/pixel"
)

// DecoderVersion is the version of the decoder that DecoderName names.
func DecoderVersion() string { return C.GoString(C.dsconv_jpeg_version()) }

// JpegTranscoder holds libjpeg-turbo's and the coder's memory, made at the first image.
type JpegTranscoder struct {
	c    *C.dsconv_transcoder
	Stop *pixel.Stop
}

// Append appends src's coefficients as one scan with a restart marker every interval MCUs,
// behind the marker segments meta.
func (t *JpegTranscoder) Append(dst, src, meta []byte, interval int) ([]byte, error) {
	if t.c == nil {
		if t.c = C.dsconv_transcoder_new(); t.c == nil {
			return dst, fmt.Errorf("%w: JPEG transcoder", pixel.ErrMemory)
		}
	}
	var out *C.uint8_t
	var n C.size_t
	//nolint:gocritic // what cgo generates for &out and &n looks like comparing a thing with itself
	rc := C.dsconv_transcode(t.c, (*C.uint8_t)(unsafe.SliceData(src)), C.size_t(len(src)),
		(*C.uint8_t)(unsafe.SliceData(meta)), C.size_t(len(meta)), C.uint(interval), stopFlag(t.Stop), &out, &n)
	switch rc {
	case C.DSCONV_OK:
		return append(dst, unsafe.Slice((*byte)(out), int(n))...), nil
	case C.DSCONV_CORRUPT:
		return dst, &NotTiledError{Reason: NotSound, Detail: C.GoString(C.dsconv_transcoder_text(t.c))}
	case C.TRANSCODE_BEYOND:
		return dst, &NotTiledError{Reason: notRange, Detail: C.GoString(C.dsconv_transcoder_text(t.c))}
	case C.DSCONV_SCANS:
		return dst, &NotTiledError{Reason: NotScans}
	case C.TRANSCODE_DIFFERS:
		return dst, fmt.Errorf("tile JPEG: the check of what was written failed: %s", C.GoString(C.dsconv_transcoder_text(t.c)))
	}
	return dst, fmt.Errorf("tile: %w", libjpegError(rc, C.dsconv_transcoder_text(t.c)))
}

func (t *JpegTranscoder) Close() {
	C.dsconv_transcoder_free(t.c)
	t.c = nil
}
