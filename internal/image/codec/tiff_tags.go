package codec

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/dsconv/dsconv/preprocess/pixel"
)

// More TIFF tags.
const (
	tagCompression      = 259
	tagFillOrder        = 266
	tagStripOffsets     = 273
	tagRowsPerStrip     = 278
	tagStripSizes       = 279
	tagPlanar           = 284
	tagYCbCrSubsampling = 530
	tagPredictor        = 317
	tagColorMap         = 320
	tagTileWidth        = 322
	tagTileHeight       = 323
	tagTileOffsets      = 324
	tagTileSizes        = 325
	tagSampleFormat     = 339
	tiffUncompressed    = 1
	tiffDeflateOld      = 32946
	tiffPackBits        = 32773
)

// maxTIFFValues is the most values of a tag that are read: a colour map of 8 bits has 768.
const maxTIFFValues = 1 << 10

// tiffTags are the tags of the first directory of a TIFF or a BigTIFF.
type tiffTags struct {
	data    []byte
	order   binary.ByteOrder
	entries []byte
	big     bool // 8 bytes for offsets and counts
	cut     bool // the file ends within the directory
}

// readTIFFTags finds the first directory.
func readTIFFTags(data []byte) (t tiffTags, err error) {
	t.data, t.order = data, binary.LittleEndian
	if len(data) < 8 {
		return t, fmt.Errorf("%w: inside the TIFF header", pixel.ErrTruncated)
	}
	if data[0] == 'M' {
		t.order = binary.BigEndian
	}
	t.big = t.order.Uint16(data[2:]) == 43
	at, count, size := uint64(t.order.Uint32(data[4:])), uint64(0), uint64(12)
	if t.big {
		if len(data) < 16 {
			return t, fmt.Errorf("%w: inside the TIFF header", pixel.ErrTruncated)
		}
		at, size = t.order.Uint64(data[8:]), 20
	}
	words := uint64(2) // of the count
	if t.big {
		words = 8
	}
	if at > uint64(len(data)) || uint64(len(data))-at < words {
		return t, fmt.Errorf("%w: the TIFF directory lies past the end of the file", pixel.ErrTruncated)
	}
	if count = uint64(t.order.Uint16(data[at:])); t.big {
		count = t.order.Uint64(data[at:])
	}
	rest := data[at+words:]
	t.entries = rest[:min(count, uint64(len(rest))/size)*size]
	t.cut = uint64(len(t.entries)) < count*size
	return t, nil
}

// entry returns the type of a tag's values, their number and their bytes, which may be fewer.
func (t *tiffTags) entry(tag uint16) (typ uint16, n uint64, values []byte, ok bool) {
	size, inline := 12, uint64(4)
	if t.big {
		size, inline = 20, 8
	}
	for e := t.entries; len(e) >= size; e = e[size:] {
		if t.order.Uint16(e) != tag {
			continue
		}
		typ, n = t.order.Uint16(e[2:]), uint64(t.order.Uint32(e[4:]))
		if values = e[8:12]; t.big {
			n, values = t.order.Uint64(e[4:]), e[12:20]
		}
		if width := tiffWidth(typ); n > inline || width*n > inline {
			at := uint64(t.order.Uint32(values))
			if t.big {
				at = t.order.Uint64(values)
			}
			values = t.data[min(at, uint64(len(t.data))):]
		}
		return typ, n, values, true
	}
	return 0, 0, nil, false
}

// tiffWidth is the bytes of a value of a type, 0 if it is not one that numbers in a TIFF have. (Pillow reads bytes as text.)
func tiffWidth(typ uint16) uint64 {
	switch typ {
	case 3: // SHORT
		return 2
	case 4, 13: // LONG, IFD
		return 4
	case 16: // LONG8
		return 8
	}
	return 0
}

// list returns the values of a tag, or otherwise if there is no such tag. The error is about values of another type,
// too many, or past the end of the file.
func (t *tiffTags) list(tag uint16, otherwise ...uint64) ([]uint64, error) {
	typ, n, b, ok := t.entry(tag)
	if !ok {
		return otherwise, nil
	}
	width := tiffWidth(typ)
	switch {
	case width == 0 || n > maxTIFFValues || n == 0:
		return nil, fmt.Errorf("%w: TIFF tag %d of type %d with %d values", pixel.ErrUnsupported, tag, typ, n)
	case width*n > uint64(len(b)):
		return nil, fmt.Errorf("%w: the values of TIFF tag %d lie past the end of the file", pixel.ErrTruncated, tag)
	}
	values := make([]uint64, n)
	for i := range values {
		switch v := b[uint64(i)*width:]; width {
		case 2:
			values[i] = uint64(t.order.Uint16(v))
		case 4:
			values[i] = uint64(t.order.Uint32(v))
		default:
			values[i] = t.order.Uint64(v)
		}
	}
	return values, nil
}

// value returns the first value of a tag, or otherwise if there is none that can be read.
func (t *tiffTags) value(tag uint16, otherwise uint64) uint64 {
	v, err := t.list(tag, otherwise)
	if err != nil {
		return otherwise
	}
	return v[0]
}

// same reports whether all values are the first.
func same(values []uint64) bool {
	return !slices.ContainsFunc(values, func(v uint64) bool { return v != values[0] })
}
