package preprocess

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/dsconv/dsconv/formats"
)

// Compressions of a BMP.
const (
	bmpRaw = iota
	bmpRLE8
	bmpRLE4
	bmpBitfields
)

// bmpFile is what the headers and the palette of a BMP say, as Pillow reads them
// (BmpImagePlugin.py): where files contradict themselves its pixels are the ones wanted.
type bmpFile struct {
	w, h        int
	topDown     bool
	compression uint32
	depth       int // bits a pixel in the file
	stride      int // bytes from row to row
	pixels      int // where they begin
	masks       [4]uint32
	palette     bmpPalette
}

// bmpPalette is the colour table of a BMP of up to 8 bits.
type bmpPalette struct {
	colors int    // that the header claims
	entry  int    // bytes a colour: blue, green, red, and nothing
	data   []byte // what there is of it
	gray   bool   // colour i is the grey of value i, or there are but black and white
}

func inspectBMP(data []byte) (Header, error) {
	b, err := parseBMP(data)
	if err != nil {
		return Header{}, err
	}
	h := Header{H: b.h, W: b.w, C: 3, DType: formats.Uint8, Orientation: 1, Palette: b.depth <= 8}
	if b.masks[3] != 0 {
		h.C = 4
	}
	return h, nil
}

// parseBMP reads all that comes before the pixels and says whether they are there, without
// looking at them.
func parseBMP(data []byte) (b bmpFile, err error) {
	if len(data) < 18 {
		return b, fmt.Errorf("%w: in the BMP header", ErrTruncated)
	}
	size := binary.LittleEndian.Uint32(data[14:])
	if !slices.Contains([]uint32{12, 40, 52, 56, 64, 108, 124}, size) {
		return b, fmt.Errorf("%w: a BMP header of %d bytes", ErrUnsupported, size)
	}
	end := 14 + int(size)
	if len(data) < end {
		return b, fmt.Errorf("%w: in the BMP header", ErrTruncated)
	}
	if b.readFields(data, size); b.w <= 0 || b.h <= 0 {
		return b, fmt.Errorf("%w: size %dx%d", ErrCorrupt, b.w, b.h)
	}
	if !slices.Contains([]int{1, 4, 8, 16, 24, 32}, b.depth) {
		return b, fmt.Errorf("%w: a BMP of %d bits", ErrUnsupported, b.depth)
	}
	offset := binary.LittleEndian.Uint32(data[10:])
	switch {
	case b.w > math.MaxInt32/max(b.depth, 8):
		return b, fmt.Errorf("%w: a BMP of %d pixels a row", ErrUnsupported, b.w)
	case uint64(offset) > uint64(len(data)):
		return b, fmt.Errorf("%w: the BMP's pixels lie past the end", ErrTruncated)
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

// fields reads the header, which is OS/2's of 12 bytes or begins as Windows' of 40.
func (b *bmpFile) readFields(data []byte, size uint32) {
	le := binary.LittleEndian
	if size == 12 {
		b.w, b.h = int(le.Uint16(data[18:])), int(le.Uint16(data[20:]))
		b.depth = int(le.Uint16(data[24:]))
		b.palette.entry = 3
	} else {
		b.w, b.h = int(le.Uint32(data[18:])), int(le.Uint32(data[22:]))
		if data[25] == 255 { // Pillow takes no other height for a negative one
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

// bmpMasks are the masks of red, green, blue and alpha that Pillow knows. With none at all the
// bytes are blue, green, red, alpha.
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

// readMasks reads the masks, which are in a header of more than 40 bytes or follow it: both is the
// same place. It gives the place behind them.
func (b *bmpFile) readMasks(data []byte, size uint32) (end int, err error) {
	const at = 54
	end = max(14+int(size), at+12)
	if len(data) < end {
		return end, fmt.Errorf("%w: in the BMP's masks", ErrTruncated)
	}
	n := 3
	if size >= 56 && b.depth == 32 {
		n = 4
	}
	for i := range b.masks[:n] {
		b.masks[i] = binary.LittleEndian.Uint32(data[at+4*i:])
	}
	if !slices.Contains(bmpMasks[b.depth], b.masks) {
		return end, fmt.Errorf("%w: a BMP of %d bits with the masks %x", ErrUnsupported, b.depth, b.masks)
	}
	if b.masks == [4]uint32{} {
		b.masks = [4]uint32{0xFF0000, 0xFF00, 0xFF, 0xFF000000}
	}
	return end, nil
}

// places says at which bytes of a pixel of 24 or 32 bits red, green, blue and alpha are.
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

// readPalette reads the palette at a place and gives the place behind it.
func (b *bmpFile) readPalette(data []byte, at int) (end int, err error) {
	p := &b.palette
	if p.colors <= 0 || p.colors > 1<<16 {
		return 0, fmt.Errorf("%w: a BMP of %d colours", ErrUnsupported, p.colors)
	}
	if b.pixels == at { // an offset that forgets the palette
		b.pixels += p.entry * p.colors
	}
	end = min(at+p.entry*p.colors, len(data))
	p.data = data[at:end]
	p.gray = p.isGray()
	if n := len(p.data) / p.entry; n > 256 && !p.gray {
		return 0, fmt.Errorf("%w: a BMP of %d colours", ErrUnsupported, n)
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

// bilevel says that Pillow takes the image for black and white, one bit a pixel whatever its depth.
func (b *bmpFile) bilevel() bool { return b.palette.gray && b.palette.colors <= 2 }

// rowBits is how many bits Pillow takes for a pixel of a row that is not compressed: of a palette
// that is grey it takes the number of colours for the depth.
func (b *bmpFile) rowBits() int {
	switch {
	case b.bilevel():
		return 1
	case b.palette.gray:
		return 8
	}
	return b.depth
}

// check refuses a compression that is unknown, and pixels that n bytes of file cannot hold. Rows that
// Pillow takes for wider than they are lie behind each other.
func (b *bmpFile) check(n int) error {
	switch {
	case b.compression == bmpRLE8 || b.compression == bmpRLE4:
		if b.depth > 8 {
			return fmt.Errorf("%w: a BMP of %d bits in runs", ErrUnsupported, b.depth)
		}
		return nil
	case b.compression > bmpBitfields:
		return fmt.Errorf("%w: BMP compression %d", ErrUnsupported, b.compression)
	}
	row, left := (b.w*b.rowBits()+7)/8, n-b.pixels
	b.stride = max(b.stride, row)
	if left < row || (left-row)/b.stride < b.h-1 { // the last row needs no padding
		return fmt.Errorf("%w: %d bytes for %dx%d pixels of %d bits", ErrTruncated, max(left, 0), b.w, b.h, b.depth)
	}
	return nil
}
