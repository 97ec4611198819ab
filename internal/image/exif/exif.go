// Package exif reads the first directory of a TIFF. An EXIF block is one too: it has the orientation of a
// photo.
package exif

import (
	"encoding/binary"
	"fmt"

	"github.com/dsconv/dsconv/preprocess/pixel"
)

// TIFF tags (TIFF 6.0); EXIF keeps its orientation under the same number.
const (
	TagWidth        = 256
	TagHeight       = 257
	TagBits         = 258
	TagPhotometric  = 262
	TagOrientation  = 274
	TagSamples      = 277
	TagExtraSamples = 338
)

// Types of values.
const (
	typeByte  = 1
	TypeShort = 3
	TypeLong  = 4
)

// Orientation reads the orientation in an EXIF block, which is a TIFF without image: 1 if there is none or it is not 1 to 8.
func Orientation(block []byte) int {
	if len(block) < 2 || string(block[:2]) != "II" && string(block[:2]) != "MM" {
		return 1
	}
	t, err := ReadTags(block)
	if err != nil {
		return 1
	}
	typ, _, v, _ := t.Entry(TagOrientation)
	if len(v) < 4 {
		return 1
	}
	o := uint32(1)
	switch typ {
	case typeByte:
		o = uint32(v[0])
	case TypeShort:
		o = uint32(t.Order.Uint16(v))
	case TypeLong:
		o = t.Order.Uint32(v)
	}
	if o < 1 || o > 8 {
		return 1
	}
	return int(o)
}

// maxValues is the most values of a tag that are read: a colour map of 8 bits has 768.
const maxValues = 1 << 10

// Tags are the tags of the first directory of a TIFF or a BigTIFF.
type Tags struct {
	Data    []byte
	Order   binary.ByteOrder
	Entries []byte
	Big     bool // 8 bytes for offsets and counts
	Cut     bool // the file ends within the directory
}

// ReadTags finds the first directory.
func ReadTags(data []byte) (t Tags, err error) {
	t.Data, t.Order = data, binary.LittleEndian
	if len(data) < 8 {
		return t, fmt.Errorf("%w: inside the TIFF header", pixel.ErrTruncated)
	}
	if data[0] == 'M' {
		t.Order = binary.BigEndian
	}
	t.Big = t.Order.Uint16(data[2:]) == 43
	at, count, size := uint64(t.Order.Uint32(data[4:])), uint64(0), uint64(12)
	if t.Big {
		if len(data) < 16 {
			return t, fmt.Errorf("%w: inside the TIFF header", pixel.ErrTruncated)
		}
		at, size = t.Order.Uint64(data[8:]), 20
	}
	words := uint64(2) // of the count
	if t.Big {
		words = 8
	}
	if at > uint64(len(data)) || uint64(len(data))-at < words {
		return t, fmt.Errorf("%w: the TIFF directory lies past the end of the file", pixel.ErrTruncated)
	}
	if count = uint64(t.Order.Uint16(data[at:])); t.Big {
		count = t.Order.Uint64(data[at:])
	}
	rest := data[at+words:]
	t.Entries = rest[:min(count, uint64(len(rest))/size)*size]
	t.Cut = uint64(len(t.Entries)) < count*size
	return t, nil
}

// Entry returns the type of a tag's values, their number and their bytes, which may be fewer.
func (t *Tags) Entry(tag uint16) (typ uint16, n uint64, values []byte, ok bool) {
	size, inline := 12, uint64(4)
	if t.Big {
		size, inline = 20, 8
	}
	for e := t.Entries; len(e) >= size; e = e[size:] {
		if t.Order.Uint16(e) != tag {
			continue
		}
		typ, n = t.Order.Uint16(e[2:]), uint64(t.Order.Uint32(e[4:]))
		if values = e[8:12]; t.Big {
			n, values = t.Order.Uint64(e[4:]), e[12:20]
		}
		if width := Width(typ); n > inline || width*n > inline {
			at := uint64(t.Order.Uint32(values))
			if t.Big {
				at = t.Order.Uint64(values)
			}
			values = t.Data[min(at, uint64(len(t.Data))):]
		}
		return typ, n, values, true
	}
	return 0, 0, nil, false
}

// Width is the bytes of a value of a type, 0 if it is not one that numbers in a TIFF have. (Pillow reads bytes as text.)
func Width(typ uint16) uint64 {
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

// List returns the values of a tag, or otherwise if there is no such tag. The error is about values of another type,
// too many, or past the end of the file.
func (t *Tags) List(tag uint16, otherwise ...uint64) ([]uint64, error) {
	typ, n, b, ok := t.Entry(tag)
	if !ok {
		return otherwise, nil
	}
	width := Width(typ)
	switch {
	case width == 0 || n > maxValues || n == 0:
		return nil, fmt.Errorf("%w: TIFF tag %d of type %d with %d values", pixel.ErrUnsupported, tag, typ, n)
	case width*n > uint64(len(b)):
		return nil, fmt.Errorf("%w: the values of TIFF tag %d lie past the end of the file", pixel.ErrTruncated, tag)
	}
	values := make([]uint64, n)
	for i := range values {
		values[i] = t.Number(b, uint64(i), width)
	}
	return values, nil
}

// Number returns value i of values of that Width.
func (t *Tags) Number(values []byte, i, width uint64) uint64 {
	switch v := values[i*width:]; width {
	case 2:
		return uint64(t.Order.Uint16(v))
	case 4:
		return uint64(t.Order.Uint32(v))
	default:
		return t.Order.Uint64(v)
	}
}

// Value returns the first value of a tag, or otherwise if there is none that can be read.
func (t *Tags) Value(tag uint16, otherwise uint64) uint64 {
	v, err := t.List(tag, otherwise)
	if err != nil {
		return otherwise
	}
	return v[0]
}
