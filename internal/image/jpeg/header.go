// Package jpeg decodes, encodes and inspects JPEGs, decodes a region of one, and rewrites JPEGs as
// restart-tiled ones without loss ([Transcoder]). It uses libjpeg-turbo through cgo, with a Huffman
// decoder of its own if libjpeg's layout allows. A build without cgo has none of that:
// its functions return pixel.ErrNoCgo.
//
// Decoders and encoders hold C memory. Use one a goroutine for many images, and close it at the end.
package jpeg

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/exif"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

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

// JPEG markers (ITU-T T.81, table B.1), without the leading 0xFF.
const (
	markTEM  = 0x01
	MarkSOF0 = 0xC0
	MarkSOF2 = 0xC2
	markSOF9 = 0xC9
	MarkDHT  = 0xC4
	markJPG  = 0xC8
	markDAC  = 0xCC
	MarkRST0 = 0xD0
	markRST7 = 0xD7
	MarkSOI  = 0xD8
	MarkEOI  = 0xD9
	MarkSOS  = 0xDA
	MarkDQT  = 0xDB
	MarkDRI  = 0xDD
	markAPP0 = 0xE0
	markAPP1 = 0xE1
	markAPPE = 0xEE
	markAPPF = 0xEF
	markCOM  = 0xFE
)

// IsSOF reports whether a marker begins a frame header.
func IsSOF(m byte) bool {
	return m&0xF0 == MarkSOF0 && m != MarkDHT && m != markJPG && m != markDAC
}

// NextMarker finds the first marker in data[i:] as libjpeg does: it skips other bytes and fill
// bytes. next is the offset after the marker; ok is false at the end of the data.
func NextMarker(data []byte, i int) (mark byte, next int, ok bool) {
	for i < len(data) {
		j := bytes.IndexByte(data[i:], 0xFF)
		if j < 0 {
			break
		}
		for i += j; i < len(data) && data[i] == 0xFF; i++ {
		}
		if i < len(data) && data[i] != 0 {
			return data[i], i + 1, true
		}
	}
	return 0, len(data), false
}

// Segment returns the content of the marker segment whose length field is at data[i:], and the
// offset after it.
func Segment(data []byte, i int) (body []byte, next int, err error) {
	if len(data)-i < 2 {
		return nil, 0, fmt.Errorf("%w: inside a JPEG segment", pixel.ErrTruncated)
	}
	n := int(binary.BigEndian.Uint16(data[i:]))
	switch {
	case n < 2 && IsMetadata(data[i-1]):
		return nil, i + 2, nil
	case n < 2:
		return nil, 0, fmt.Errorf("%w: a JPEG marker of length %d", pixel.ErrCorrupt, n)
	case n > len(data)-i:
		return nil, 0, fmt.Errorf("%w: inside a JPEG segment", pixel.ErrTruncated)
	}
	return data[i+2 : i+n], i + n, nil
}

// IsMetadata reports whether a marker begins an APPn or COM segment. For those, libjpeg and Pillow
// take a length of 0 or 1, which does not even count its own two bytes, as no content.
func IsMetadata(m byte) bool { return m >= markAPP0 && m <= markAPPF || m == markCOM }

// Standalone reports whether a marker has no segment.
func Standalone(m byte) bool {
	return m == markTEM || m >= MarkRST0 && m <= MarkSOI
}

// Inspect reads the header of a JPEG; see codec.Inspect.
func Inspect(data []byte) (pixel.Header, error) {
	h, _, err := ReadHeader(data)
	return h, err
}

// ReadHeader also returns the bytes of all of the image's coefficients.
func ReadHeader(data []byte) (h pixel.Header, coefficients int, err error) {
	orientation, components := 1, 0
	for i := 2; ; {
		mark, next, ok := NextMarker(data, i)
		switch {
		case !ok:
			return h, 0, fmt.Errorf("%w: before the JPEG's image data", pixel.ErrTruncated)
		case mark == MarkEOI:
			return h, 0, fmt.Errorf("%w: a JPEG without image data", pixel.ErrCorrupt)
		case mark < MarkSOF0: // also TEM, which libjpeg accepts and Pillow does not
			return h, 0, fmt.Errorf("%w: the JPEG has a marker %#x", pixel.ErrCorrupt, mark)
		case Standalone(mark):
			i = next
			continue
		}
		body, end, err := Segment(data, next)
		if err != nil {
			return h, 0, err
		}
		switch {
		case IsSOF(mark) && components == 0:
			if h, err = frameHeader(body, mark, len(data)); err != nil {
				return h, 0, err
			}
			components, coefficients = int(body[5]), coefficientBytes(h, body[6:])
			if mark&3 == MarkSOF2&3 {
				h.CoefficientBytes = coefficients
			}
		case mark == markAPP1 && bytes.HasPrefix(body, []byte("Exif\x00\x00")):
			orientation = exif.Orientation(body[6:])
		case mark == MarkSOS:
			if components == 0 {
				return h, 0, fmt.Errorf("%w: a JPEG scan without a frame", pixel.ErrCorrupt)
			}
			if len(body) > 0 && int(body[0]) < components { // one of several scans
				h.CoefficientBytes = coefficients
			}
			h.Orientation = orientation
			return h, coefficients, nil
		}
		i = end
	}
}

// frameHeader reads a SOF segment (T.81, B.2.2) of a file of size bytes.
func frameHeader(body []byte, mark byte, size int) (pixel.Header, error) {
	if len(body) < 6 {
		return pixel.Header{}, fmt.Errorf("%w: a short JPEG frame header", pixel.ErrCorrupt)
	}
	if body[0] != 8 {
		return pixel.Header{}, fmt.Errorf("%w: JPEG of %d bits", pixel.ErrUnsupported, body[0])
	}
	h := pixel.Header{
		H: int(binary.BigEndian.Uint16(body[1:])), W: int(binary.BigEndian.Uint16(body[3:])),
		DType: formats.Uint8, Orientation: 1,
	}
	switch n := body[5]; n {
	case 1, 3:
		h.C = int(n)
	case 4: // CMYK
		h.C = 3
	default:
		return pixel.Header{}, fmt.Errorf("%w: JPEG of %d components", pixel.ErrUnsupported, n)
	}
	// Huffman coding takes at least a bit for every 8x8 block: do not allocate for a header that
	// claims far more. Arithmetic coding has no such limit, but only images of a single colour
	// come near it.
	pixelsPerByte := 8 * 64 * 16
	if mark >= markSOF9 {
		pixelsPerByte *= 16
	}
	if h.H*h.W/pixelsPerByte > size {
		return pixel.Header{}, fmt.Errorf("%w: %d bytes cannot hold %dx%d pixels", pixel.ErrTruncated, size, h.W, h.H)
	}
	return h, nil
}

// coefficientBytes is the memory of all coefficients of an image, 16 bits each, by the sampling of
// its components (T.81, A.1.1).
func coefficientBytes(h pixel.Header, components []byte) int {
	across, down, sum := 1, 1, 0
	for ; len(components) >= 3; components = components[3:] {
		x, y := int(components[1]>>4), int(components[1]&15)
		across, down, sum = max(across, x), max(down, y), sum+x*y
	}
	return 2 * h.H * h.W * sum / (across * down)
}
