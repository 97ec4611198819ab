package preprocess

import (
	"encoding/binary"
	"fmt"
	"math"
)

// TIFF tags (TIFF 6.0); EXIF keeps its orientation under the same number.
const (
	tagWidth        = 256
	tagHeight       = 257
	tagBits         = 258
	tagPhotometric  = 262
	tagOrientation  = 274
	tagSamples      = 277
	tagExtraSamples = 338
)

// Photometric interpretations.
const (
	tiffGrayInverted = 0
	tiffGray         = 1
	tiffPalette      = 3
)

// Types of values.
const (
	typeByte  = 1
	typeShort = 3
	typeLong  = 4
)

// directory is the first image file directory of a TIFF.
type directory struct {
	data    []byte
	order   binary.ByteOrder
	entries []byte
}

func firstIFD(data []byte) (directory, error) {
	if len(data) < 8 {
		return directory{}, fmt.Errorf("%w: inside the TIFF header", ErrTruncated)
	}
	d := directory{data: data}
	switch string(data[:2]) {
	case "II":
		d.order = binary.LittleEndian
	case "MM":
		d.order = binary.BigEndian
	default:
		return directory{}, fmt.Errorf("%w: TIFF byte order %q", ErrCorrupt, data[:2])
	}
	at := int64(d.order.Uint32(data[4:]))
	if at+2 > int64(len(data)) {
		return directory{}, fmt.Errorf("%w: the TIFF directory lies past the end of the file", ErrTruncated)
	}
	n := int64(d.order.Uint16(data[at:]))
	at += 2
	d.entries = data[at:min(at+12*n, int64(len(data)))]
	return d, nil
}

// entry returns the 12 bytes of a tag's entry, nil if there is none.
func (d directory) entry(tag uint16) []byte {
	for e := d.entries; len(e) >= 12; e = e[12:] {
		if d.order.Uint16(e) == tag {
			return e[:12]
		}
	}
	return nil
}

// value returns the first value of a tag of type BYTE, SHORT or LONG, or def if there is none.
func (d directory) value(tag uint16, def int) int {
	e := d.entry(tag)
	if e == nil {
		return def
	}
	var size uint64
	switch d.order.Uint16(e[2:]) {
	case typeByte:
		size = 1
	case typeShort:
		size = 2
	case typeLong:
		size = 4
	default:
		return def
	}
	at := e[8:]
	if size*uint64(d.order.Uint32(e[4:])) > 4 {
		off := int64(d.order.Uint32(at))
		if off+4 > int64(len(d.data)) {
			return def
		}
		at = d.data[off:]
	}
	switch size {
	case 1:
		return int(at[0])
	case 2:
		return int(d.order.Uint16(at))
	}
	return int(min(d.order.Uint32(at), math.MaxInt32))
}

// orientation is the directory's orientation, 1 if there is none or it is not 1 to 8.
func (d directory) orientation() int {
	if o := d.value(tagOrientation, 1); o >= 1 && o <= 8 {
		return o
	}
	return 1
}

// tiffOrientation reads the orientation of a TIFF; an EXIF block is a TIFF without image.
func tiffOrientation(exif []byte) int {
	d, err := firstIFD(exif)
	if err != nil {
		return 1
	}
	return d.orientation()
}
