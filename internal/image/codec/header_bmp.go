package codec

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Compressions of a BMP.
const (
	bmpRaw = iota
	bmpRLE8
	bmpRLE4
	bmpBitfields
)

// bmpFile is what the headers and the palette of a BMP say, read as Pillow does
// (BmpImagePlugin.py): where a file contradicts itself, Pillow's reading counts.
type bmpFile struct {
	w, h        int
	topDown     bool
	compression uint32
	depth       int // bits per pixel in the file
	stride      int // bytes from row to row
	pixels      int // offset of the first
	masks       [4]uint32
	palette     bmpPalette
}

// bmpPalette is the palette of a BMP of up to 8 bits.
type bmpPalette struct {
	colors int    // as the header claims
	entry  int    // bytes a colour: blue, green, red, perhaps one unused
	data   []byte // as much as the file has
	gray   bool   // colour i is the grey of value i, or there are only black and white
}

func inspectBMP(data []byte) (pixel.Header, error) {
	b, err := parseBMP(data)
	if err != nil {
		return pixel.Header{}, err
	}
	h := pixel.Header{H: b.h, W: b.w, C: 3, DType: formats.Uint8, Orientation: 1, Palette: b.depth <= 8}
	if b.masks[3] != 0 {
		h.C = 4
	}
	return h, nil
}

// parseBMP reads everything before the pixels and checks that the file is long enough for them.
func parseBMP(data []byte) (b bmpFile, err error) {
	if len(data) < 18 {
		return b, fmt.Errorf("%w: inside the BMP header", pixel.ErrTruncated)
	}
	size := binary.LittleEndian.Uint32(data[14:])
	if !slices.Contains([]uint32{12, 40, 52, 56, 64, 108, 124}, size) {
		return b, fmt.Errorf("%w: a BMP header of %d bytes", pixel.ErrUnsupported, size)
	}
	end := 14 + int(size)
	if len(data) < end {
		return b, fmt.Errorf("%w: inside the BMP header", pixel.ErrTruncated)
	}
	if b.readFields(data, size); b.w <= 0 || b.h <= 0 {
		return b, fmt.Errorf("%w: size %dx%d", pixel.ErrCorrupt, b.w, b.h)
	}
	if !slices.Contains([]int{1, 4, 8, 16, 24, 32}, b.depth) {
		return b, fmt.Errorf("%w: a BMP of %d bits", pixel.ErrUnsupported, b.depth)
	}
	offset := binary.LittleEndian.Uint32(data[10:])
	switch {
	case b.w > math.MaxInt32/max(b.depth, 8):
		return b, fmt.Errorf("%w: a BMP with %d pixels per row", pixel.ErrUnsupported, b.w)
	case uint64(offset) > uint64(len(data)):
		return b, fmt.Errorf("%w: the BMP's pixels lie past the end of the file", pixel.ErrTruncated)
	}
	b.pixels, b.stride = int(offset), (b.w*b.depth+31)/32*4
	if b.compression == bmpBitfields {
		if end, err = b.readMasks(data, size); err != nil {
			return b, err
		}
	}
	if b.depth <= 8 {
		if end, err = b.readPalette(data, end); err != nil {
			return b, err
		}
	}
	if b.pixels == 0 {
		b.pixels = end
	}
	err = b.check(len(data))
	return b, err
}

// readFields reads the header: OS/2's of 12 bytes, or one that begins as Windows' of 40.
func (b *bmpFile) readFields(data []byte, size uint32) {
	le := binary.LittleEndian
	if size == 12 {
		b.w, b.h = int(le.Uint16(data[18:])), int(le.Uint16(data[20:]))
		b.depth = int(le.Uint16(data[24:]))
		b.palette.entry = 3
	} else {
		b.w, b.h = int(le.Uint32(data[18:])), int(le.Uint32(data[22:]))
		if data[25] == 255 { // Pillow does not take other heights for negative ones
			b.topDown, b.h = true, -int(int32(le.Uint32(data[22:])))
		}
		b.depth = int(le.Uint16(data[28:]))
		b.compression = le.Uint32(data[30:])
		b.palette.entry, b.palette.colors = 4, int(le.Uint32(data[46:]))
	}
	if b.palette.colors == 0 && b.depth <= 8 {
		b.palette.colors = 1 << b.depth
	}
}

// bmpMasks are the masks of red, green, blue and alpha that Pillow supports, by depth. If all are
// 0, the bytes are blue, green, red, alpha.
var bmpMasks = map[int][][4]uint32{
	16: {{0xF800, 0x7E0, 0x1F}, {0x7C00, 0x3E0, 0x1F}},
	24: {{0xFF0000, 0xFF00, 0xFF}},
	32: {
		{0xFF0000, 0xFF00, 0xFF},
		{0xFF000000, 0xFF0000, 0xFF00},
		{0xFF000000, 0xFF00, 0xFF},
		{0xFF000000, 0xFF0000, 0xFF00, 0xFF},
		{0xFF, 0xFF00, 0xFF0000, 0xFF000000},
		{0xFF0000, 0xFF00, 0xFF, 0xFF000000},
		{0xFF000000, 0xFF00, 0xFF, 0xFF0000},
		{},
	},
}

// readMasks reads the masks and returns the offset after them. They are part of a header of more
// than 40 bytes, or follow one of 40: at the same offset.
func (b *bmpFile) readMasks(data []byte, size uint32) (end int, err error) {
	const at = 54
	end = max(14+int(size), at+12)
	if len(data) < end {
		return end, fmt.Errorf("%w: inside the BMP's masks", pixel.ErrTruncated)
	}
	n := 3
	if size >= 56 && b.depth == 32 {
		n = 4
	}
	for i := range b.masks[:n] {
		b.masks[i] = binary.LittleEndian.Uint32(data[at+4*i:])
	}
	if !slices.Contains(bmpMasks[b.depth], b.masks) {
		return end, fmt.Errorf("%w: a BMP of %d bits with the masks %x", pixel.ErrUnsupported, b.depth, b.masks)
	}
	if b.masks == [4]uint32{} {
		b.masks = [4]uint32{0xFF0000, 0xFF00, 0xFF, 0xFF000000}
	}
	return end, nil
}

// channelOffsets returns the bytes of a pixel of 24 or 32 bits that hold red, green, blue and alpha.
func (b *bmpFile) channelOffsets() [4]int {
	if b.compression != bmpBitfields {
		return [4]int{2, 1, 0, 3}
	}
	var at [4]int
	for i, mask := range b.masks {
		at[i] = bits.TrailingZeros32(mask|1<<31) / 8
	}
	return at
}

// readPalette reads the palette at an offset and returns the offset after it.
func (b *bmpFile) readPalette(data []byte, at int) (end int, err error) {
	p := &b.palette
	if p.colors <= 0 || p.colors > 1<<16 {
		return 0, fmt.Errorf("%w: a BMP of %d colours", pixel.ErrUnsupported, p.colors)
	}
	if b.pixels == at { // an offset that does not count the palette
		b.pixels += p.entry * p.colors
	}
	end = min(at+p.entry*p.colors, len(data))
	p.data = data[at:end]
	p.gray = p.isGray()
	if n := len(p.data) / p.entry; n > 256 && !p.gray {
		return 0, fmt.Errorf("%w: a BMP of %d colours", pixel.ErrUnsupported, n)
	}
	return end, nil
}

func (p *bmpPalette) isGray() bool {
	if len(p.data) < p.entry*(p.colors-1)+3 {
		return false
	}
	for i := range p.colors {
		v := byte(i)
		if p.colors == 2 {
			v = byte(255 * i)
		}
		if c := p.data[p.entry*i:]; c[0] != v || c[1] != v || c[2] != v {
			return false
		}
	}
	return true
}

// bilevel reports whether Pillow takes the image for black and white, one bit a pixel whatever its
// depth.
func (b *bmpFile) bilevel() bool { return b.palette.gray && b.palette.colors <= 2 }

// rowBits is how many bits Pillow reads for a pixel of an uncompressed row: if the palette is grey,
// the number of colours decides, not the depth.
func (b *bmpFile) rowBits() int {
	switch {
	case b.bilevel():
		return 1
	case b.palette.gray:
		return 8
	}
	return b.depth
}

// check returns an error for an unknown compression, and if a file of n bytes cannot hold the pixels.
// If Pillow reads rows as wider than stride, they follow each other without padding.
func (b *bmpFile) check(n int) error {
	switch {
	case b.compression == bmpRLE8 || b.compression == bmpRLE4:
		if b.depth > 8 {
			return fmt.Errorf("%w: a run-length encoded BMP of %d bits", pixel.ErrUnsupported, b.depth)
		}
		return nil
	case b.compression > bmpBitfields:
		return fmt.Errorf("%w: BMP compression %d", pixel.ErrUnsupported, b.compression)
	}
	row, left := (b.w*b.rowBits()+7)/8, n-b.pixels
	b.stride = max(b.stride, row)
	if left < row || (left-row)/b.stride < b.h-1 { // the last row needs no padding
		return fmt.Errorf("%w: %d bytes for %dx%d pixels of %d bits", pixel.ErrTruncated, max(left, 0), b.w, b.h, b.depth)
	}
	return nil
}
