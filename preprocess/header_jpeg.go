package preprocess

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/dsconv/dsconv/formats"
)

// JPEG markers (ITU-T T.81, table B.1), without the leading 0xFF.
const (
	markTEM  = 0x01
	markSOF0 = 0xC0
	markSOF2 = 0xC2
	markSOF9 = 0xC9
	markDHT  = 0xC4
	markJPG  = 0xC8
	markDAC  = 0xCC
	markRST0 = 0xD0
	markRST7 = 0xD7
	markSOI  = 0xD8
	markEOI  = 0xD9
	markSOS  = 0xDA
	markDQT  = 0xDB
	markDRI  = 0xDD
	markAPP0 = 0xE0
	markAPP1 = 0xE1
	markAPPE = 0xEE
	markAPPF = 0xEF
	markCOM  = 0xFE
)

// isSOF reports whether a marker begins a frame header.
func isSOF(m byte) bool {
	return m&0xF0 == markSOF0 && m != markDHT && m != markJPG && m != markDAC
}

// nextMarker finds the first marker in data[i:] as libjpeg does: it skips other bytes and fill
// bytes. next is the offset after the marker; ok is false at the end of the data.
func nextMarker(data []byte, i int) (mark byte, next int, ok bool) {
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

// segment returns the content of the marker segment whose length field is at data[i:], and the
// offset after it.
func segment(data []byte, i int) (body []byte, next int, err error) {
	if len(data)-i < 2 {
		return nil, 0, fmt.Errorf("%w: inside a JPEG segment", ErrTruncated)
	}
	n := int(binary.BigEndian.Uint16(data[i:]))
	switch {
	case n < 2 && isMetadata(data[i-1]):
		return nil, i + 2, nil
	case n < 2:
		return nil, 0, fmt.Errorf("%w: a JPEG marker of length %d", ErrCorrupt, n)
	case n > len(data)-i:
		return nil, 0, fmt.Errorf("%w: inside a JPEG segment", ErrTruncated)
	}
	return data[i+2 : i+n], i + n, nil
}

// isMetadata reports whether a marker begins an APPn or COM segment. For those, libjpeg and Pillow
// take a length of 0 or 1, which does not even count its own two bytes, as no content.
func isMetadata(m byte) bool { return m >= markAPP0 && m <= markAPPF || m == markCOM }

// standalone reports whether a marker has no segment.
func standalone(m byte) bool {
	return m == markTEM || m >= markRST0 && m <= markSOI
}

func inspectJPEG(data []byte) (Header, error) {
	h, _, err := jpegHeader(data)
	return h, err
}

// jpegHeader also returns the bytes of all of the image's coefficients.
func jpegHeader(data []byte) (h Header, coefficients int, err error) {
	orientation, components := 1, 0
	for i := 2; ; {
		mark, next, ok := nextMarker(data, i)
		switch {
		case !ok:
			return h, 0, fmt.Errorf("%w: before the JPEG's image data", ErrTruncated)
		case mark == markEOI:
			return h, 0, fmt.Errorf("%w: a JPEG without image data", ErrCorrupt)
		case mark < markSOF0: // also TEM, which libjpeg accepts and Pillow does not
			return h, 0, fmt.Errorf("%w: the JPEG has a marker %#x", ErrCorrupt, mark)
		case standalone(mark):
			i = next
			continue
		}
		body, end, err := segment(data, next)
		if err != nil {
			return h, 0, err
		}
		switch {
		case isSOF(mark) && components == 0:
			if h, err = frameHeader(body, mark, len(data)); err != nil {
				return h, 0, err
			}
			components, coefficients = int(body[5]), coefficientBytes(h, body[6:])
			if mark&3 == markSOF2&3 {
				h.CoefficientBytes = coefficients
			}
		case mark == markAPP1 && bytes.HasPrefix(body, []byte("Exif\x00\x00")):
			orientation = tiffOrientation(body[6:])
		case mark == markSOS:
			if components == 0 {
				return h, 0, fmt.Errorf("%w: a JPEG scan without a frame", ErrCorrupt)
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
func frameHeader(body []byte, mark byte, size int) (Header, error) {
	if len(body) < 6 {
		return Header{}, fmt.Errorf("%w: a short JPEG frame header", ErrCorrupt)
	}
	if body[0] != 8 {
		return Header{}, fmt.Errorf("%w: JPEG of %d bits", ErrUnsupported, body[0])
	}
	h := Header{
		H: int(binary.BigEndian.Uint16(body[1:])), W: int(binary.BigEndian.Uint16(body[3:])),
		DType: formats.Uint8, Orientation: 1,
	}
	switch n := body[5]; n {
	case 1, 3:
		h.C = int(n)
	case 4: // CMYK
		h.C = 3
	default:
		return Header{}, fmt.Errorf("%w: JPEG of %d components", ErrUnsupported, n)
	}
	// Huffman coding takes at least a bit for every 8x8 block: do not allocate for a header that
	// claims far more. Arithmetic coding has no such limit, but only images of a single colour
	// come near it.
	pixelsPerByte := 8 * 64 * 16
	if mark >= markSOF9 {
		pixelsPerByte *= 16
	}
	if h.H*h.W/pixelsPerByte > size {
		return Header{}, fmt.Errorf("%w: %d bytes cannot hold %dx%d pixels", ErrTruncated, size, h.W, h.H)
	}
	return h, nil
}

// coefficientBytes is the memory of all coefficients of an image, 16 bits each, by the sampling of
// its components (T.81, A.1.1).
func coefficientBytes(h Header, components []byte) int {
	across, down, sum := 1, 1, 0
	for ; len(components) >= 3; components = components[3:] {
		x, y := int(components[1]>>4), int(components[1]&15)
		across, down, sum = max(across, x), max(down, y), sum+x*y
	}
	return 2 * h.H * h.W * sum / (across * down)
}
