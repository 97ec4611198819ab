package codec

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// bmpFile is what the headers and the palette of a BMP say, read as Pillow does. BMPs that Pillow reads in a way of
// its own, or that hardly any program writes, are unsupported.
type bmpFile struct {
	w, h    int
	topDown bool
	depth   int // bits per pixel in the file
	alpha   bool
	stride  int    // bytes from row to row
	pixels  int    // offset of the first
	palette []byte // blue, green, red and an unused byte a colour
}

func inspectBMP(data []byte) (pixel.Header, error) {
	b, err := parseBMP(data)
	if err != nil {
		return pixel.Header{}, err
	}
	h := pixel.Header{H: b.h, W: b.w, C: 3, DType: formats.Uint8, Orientation: 1, Palette: b.depth <= 8}
	if b.alpha {
		h.C = 4
	}
	return h, nil
}

// parseBMP reads everything before the pixels and checks that the file is long enough for them.
func parseBMP(data []byte) (b bmpFile, err error) {
	le := binary.LittleEndian
	if len(data) < 54 || len(data) < 14+int(min(le.Uint32(data[14:]), 124)) {
		return b, fmt.Errorf("%w: inside the BMP header", pixel.ErrTruncated)
	}
	size := le.Uint32(data[14:])
	if !slices.Contains([]uint32{40, 52, 56, 108, 124}, size) {
		return b, unsupported("a BMP header of %d bytes", size)
	}
	b.w, b.h, b.depth = int(le.Uint32(data[18:])), int(int32(le.Uint32(data[22:]))), int(le.Uint16(data[28:]))
	if b.topDown = b.h < 0; b.topDown {
		b.h = -b.h
	}
	switch {
	case b.w <= 0 || b.h <= 0:
		return b, fmt.Errorf("%w: size %dx%d", pixel.ErrCorrupt, b.w, b.h)
	case !slices.Contains([]int{1, 4, 8, 24, 32}, b.depth):
		return b, unsupported("a BMP of %d bits", b.depth)
	case b.w > math.MaxInt32/max(b.depth, 8):
		return b, unsupported("a BMP with %d pixels per row", b.w)
	}
	b.pixels, b.stride = int(le.Uint32(data[10:])), (b.w*b.depth+31)/32*4
	end := 14 + int(size)
	switch compression := le.Uint32(data[30:]); {
	case compression == 3: // masks, which follow a header of 40 bytes, and are in larger ones
		if end, err = b.readMasks(data, size); err != nil {
			return b, err
		}
	case compression != 0:
		return b, unsupported("a BMP of compression %d", compression)
	}
	if b.depth <= 8 {
		if end, err = b.readPalette(data, end, int(le.Uint32(data[46:]))); err != nil {
			return b, err
		}
	}
	if b.pixels < end {
		return b, unsupported("a BMP whose pixels begin at byte %d of its header", b.pixels)
	}
	row, left := (b.w*b.depth+7)/8, len(data)-b.pixels
	if left < row || (left-row)/b.stride < b.h-1 { // the last row needs no padding
		return b, fmt.Errorf("%w: %d bytes for %dx%d pixels of %d bits", pixel.ErrTruncated, max(left, 0), b.w, b.h, b.depth)
	}
	return b, nil
}

// readMasks reads the masks of red, green, blue and alpha and returns the offset after them.
func (b *bmpFile) readMasks(data []byte, size uint32) (end int, err error) {
	const at = 54
	if end = max(14+int(size), at+12); len(data) < end {
		return end, fmt.Errorf("%w: inside the BMP's masks", pixel.ErrTruncated)
	}
	masks := make([]uint32, 3, 4)
	if size >= 56 && b.depth == 32 {
		masks = masks[:4]
	}
	for i := range masks {
		masks[i] = binary.LittleEndian.Uint32(data[at+4*i:])
	}
	b.alpha = len(masks) == 4 && masks[3] == 0xFF000000
	if b.depth < 24 || !slices.Equal(masks[:3], []uint32{0xFF0000, 0xFF00, 0xFF}) || len(masks) == 4 && masks[3] != 0 && !b.alpha {
		return end, unsupported("a BMP of %d bits with the masks %x", b.depth, masks)
	}
	return end, nil
}

// readPalette reads the palette at an offset and returns the offset after it.
func (b *bmpFile) readPalette(data []byte, at, colors int) (end int, err error) {
	if colors == 0 {
		colors = 1 << b.depth
	}
	if end = at + 4*colors; colors > 256 || end > len(data) {
		return end, unsupported("a BMP of %d bits and %d colours", b.depth, colors)
	}
	b.palette = data[at:end]
	// Pillow reads greys as single bits if there are two, and as bytes otherwise, whatever the depth.
	if isGrayBMP(b.palette, colors) && (b.depth == 4 || colors != 1<<b.depth) {
		return end, unsupported("a BMP of %d bits whose %d colours are greys", b.depth, colors)
	}
	return end, nil
}

// isGrayBMP reports whether colour i is the grey of value i, or there are only black and white.
func isGrayBMP(palette []byte, colors int) bool {
	for i := range colors {
		v := byte(i)
		if colors == 2 {
			v = byte(255 * i)
		}
		if c := palette[4*i:]; c[0] != v || c[1] != v || c[2] != v {
			return false
		}
	}
	return true
}

// decodeBMP decodes a BMP to dst.
func (d *Decoder) decodeBMP(dst *pixel.Image, data []byte, h pixel.Header, o DecodeOptions) error {
	b, err := parseBMP(data)
	if err != nil {
		return err
	}
	target, channels := dst, o.Color.Channels(h.C)
	switch {
	case h.Palette:
		target, channels = d.indices(dst, o), 1
	case channels == 1:
		target, channels = &d.scratch[0], 3
	}
	target.Reset(h.H, h.W, channels, h.DType)
	for i := range b.h {
		y := i
		if !b.topDown {
			y = b.h - 1 - i
		}
		in, out := data[b.pixels+i*b.stride:], target.Pix[y*target.Stride():][:target.Stride()]
		if h.Palette {
			unpackIndices(out, in, b.depth)
		} else {
			unpackColors(out, in, b.depth/8, channels)
		}
	}
	switch {
	case h.Palette:
		var table [256][3]byte // colours that the palette lacks are black
		for i := range len(b.palette) / 4 {
			table[i] = [3]byte{b.palette[4*i+2], b.palette[4*i+1], b.palette[4*i]}
		}
		d.colors(dst, &table, o)
	case target != dst:
		return o.Color.Convert(dst, target)
	}
	return nil
}

// unpackColors converts a row of pixels of step bytes, blue, green, red and perhaps alpha, to 3 or 4 channels.
func unpackColors(out, in []byte, step, channels int) {
	for ; len(out) > 0; out, in = out[channels:], in[step:] {
		out[0], out[1], out[2] = in[2], in[1], in[0]
		if channels == 4 {
			out[3] = in[3]
		}
	}
}

// unpackIndices converts a row of pixels of 1, 4 or 8 bits, the first in the high bits, to bytes.
func unpackIndices(out, in []byte, bits int) {
	if bits == 8 {
		copy(out, in)
		return
	}
	n, mask := 8/bits, byte(1<<bits-1)
	for x := range out {
		out[x] = in[x/n] >> (8 - bits - x%n*bits) & mask
	}
}

// unsupported is the error for an image of a kind that hardly any data set has.
func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %s: save it as PNG, by Pillow if that reads it, or pack what Python reads with dsconv.pack(dataset, DST)",
		pixel.ErrUnsupported, fmt.Sprintf(format, args...))
}
