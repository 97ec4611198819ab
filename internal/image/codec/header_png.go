package codec

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/exif"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

const pngMagic = "\x89PNG\r\n\x1a\n"

// PNG colour types (PNG specification, 11.2.2).
const (
	pngGray      = 0
	pngRGB       = 2
	pngPalette   = 3
	pngGrayAlpha = 4
	pngRGBA      = 6
)

// chunk returns the PNG chunk at data[i:]; crc is its stored checksum.
func chunk(data []byte, i int) (kind, body []byte, crc uint32, next int, err error) {
	if len(data)-i < 12 {
		return nil, nil, 0, 0, fmt.Errorf("%w: inside a PNG chunk", pixel.ErrTruncated)
	}
	n := int64(binary.BigEndian.Uint32(data[i:]))
	if n > int64(len(data)-i-12) {
		return nil, nil, 0, 0, fmt.Errorf("%w: inside the PNG chunk %q", pixel.ErrTruncated, data[i+4:i+8])
	}
	end := i + 8 + int(n)
	return data[i+4 : i+8], data[i+8 : end], binary.BigEndian.Uint32(data[end:]), end + 4, nil
}

// inspectPNG reads the header. Other errors are left to CheckStructure and the decoder.
func inspectPNG(data []byte) (pixel.Header, error) {
	header, orientation, err := pngBeforePixels(data)
	if err != nil {
		return pixel.Header{}, err
	}
	h, err := pngHeader(header, len(data))
	h.Orientation = orientation
	return h, err
}

// pngBeforePixels returns the last header before the pixels, as Pillow takes it, and the orientation.
func pngBeforePixels(data []byte) (header []byte, orientation int, err error) {
	orientation = 1
	for at := len(pngMagic); ; {
		kind, body, n, ok := nextChunk(data, at)
		switch {
		case !ok && len(data)-at < 8:
			return nil, 0, fmt.Errorf("%w: before the PNG's pixels", pixel.ErrTruncated)
		case !ok:
			return nil, 0, fmt.Errorf("%w: a PNG chunk called %q", pixel.ErrCorrupt, data[at+4:at+8])
		case string(kind) == "IDAT" || string(kind) == "IEND":
			if header == nil {
				return nil, 0, fmt.Errorf("%w: a PNG without header", pixel.ErrCorrupt)
			}
			return header, orientation, nil
		case len(data)-at-12 < n:
			return nil, 0, fmt.Errorf("%w: inside the PNG chunk %q", pixel.ErrTruncated, kind)
		case string(kind) == "IHDR" && n < 13:
			return nil, 0, fmt.Errorf("%w: a PNG header of %d bytes", pixel.ErrCorrupt, n)
		case string(kind) == "IHDR":
			header = body
		case string(kind) == "eXIf":
			orientation = exif.Orientation(body)
		}
		at += 12 + n
	}
}

// pngDepth reports whether the specification allows the colour type with that many bits.
func pngDepth(bits int, color byte) bool {
	switch color {
	case pngGray:
		return bits == 1 || bits == 2 || bits == 4 || bits == 8 || bits == 16
	case pngPalette:
		return bits == 1 || bits == 2 || bits == 4 || bits == 8
	case pngRGB, pngGrayAlpha, pngRGBA:
		return bits == 8 || bits == 16
	}
	return false
}

func pngHeader(body []byte, size int) (pixel.Header, error) {
	w, ht := binary.BigEndian.Uint32(body), binary.BigEndian.Uint32(body[4:])
	if w > math.MaxInt32 || ht > math.MaxInt32 {
		return pixel.Header{}, fmt.Errorf("%w: a PNG of %dx%d pixels", pixel.ErrCorrupt, w, ht)
	}
	h := pixel.Header{H: int(ht), W: int(w), DType: formats.Uint8, Orientation: 1}
	bits := int(body[8])
	if bits == 16 {
		h.DType = formats.Uint16
	}
	if !pngDepth(bits, body[9]) {
		return pixel.Header{}, fmt.Errorf("%w: a PNG of %d bits and colour type %d", pixel.ErrCorrupt, bits, body[9])
	}
	samples := 1
	switch body[9] {
	case pngGray:
		h.C = 1
	case pngRGB:
		h.C, samples = 3, 3
	case pngPalette:
		h.C, h.Palette = 3, true
	case pngGrayAlpha:
		h.C, samples = 2, 2
	case pngRGBA:
		h.C, samples = 4, 4
	}
	// Deflate compresses at most 1032 to 1: do not allocate for a header that claims more.
	if row := (h.W*samples*bits + 7) / 8; row > 0 && h.H > size*1040/row {
		return pixel.Header{}, fmt.Errorf("%w: %d bytes cannot hold a PNG of %dx%d pixels", pixel.ErrTruncated, size, h.W, h.H)
	}
	return h, nil
}
