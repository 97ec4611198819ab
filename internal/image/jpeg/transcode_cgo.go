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
