package exif

import (
	"encoding/binary"
	"fmt"
	"math"

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

// Photometric interpretations.
const (
	GrayInverted = 0
	Gray         = 1
	Palette      = 3
)

// Types of values.
const (
	typeByte  = 1
	TypeShort = 3
	TypeLong  = 4
)

// Directory is the first image file directory of a TIFF.
type Directory struct {
	Data    []byte
	Order   binary.ByteOrder
	Entries []byte
}

// FirstIFD returns the first directory of a TIFF or EXIF block. ErrTruncated or ErrCorrupt is in the
// chain of its error.
func FirstIFD(data []byte) (Directory, error) {
	if len(data) < 8 {
		return Directory{}, fmt.Errorf("%w: inside the TIFF header", pixel.ErrTruncated)
	}
	d := Directory{Data: data}
	switch string(data[:2]) {
	case "II":
		d.Order = binary.LittleEndian
	case "MM":
		d.Order = binary.BigEndian
	default:
		return Directory{}, fmt.Errorf("%w: TIFF byte order %q", pixel.ErrCorrupt, data[:2])
	}
	at := int64(d.Order.Uint32(data[4:]))
	if at+2 > int64(len(data)) {
		return Directory{}, fmt.Errorf("%w: the TIFF directory lies past the end of the file", pixel.ErrTruncated)
	}
	n := int64(d.Order.Uint16(data[at:]))
	at += 2
	d.Entries = data[at:min(at+12*n, int64(len(data)))]
	return d, nil
}

// Entry returns the 12 bytes of a tag's entry, nil if there is none.
func (d Directory) Entry(tag uint16) []byte {
	for e := d.Entries; len(e) >= 12; e = e[12:] {
		if d.Order.Uint16(e) == tag {
			return e[:12]
		}
	}
	return nil
}

// Value returns the first value of a tag of type BYTE, SHORT or LONG, or def if there is none.
func (d Directory) Value(tag uint16, def int) int {
	e := d.Entry(tag)
	if e == nil {
		return def
	}
	var size uint64
	switch d.Order.Uint16(e[2:]) {
	case typeByte:
		size = 1
	case TypeShort:
		size = 2
	case TypeLong:
		size = 4
	default:
		return def
	}
	at := e[8:]
	if size*uint64(d.Order.Uint32(e[4:])) > 4 {
		off := int64(d.Order.Uint32(at))
		if off+4 > int64(len(d.Data)) {
			return def
		}
		at = d.Data[off:]
	}
	switch size {
	case 1:
		return int(at[0])
	case 2:
		return int(d.Order.Uint16(at))
	}
	return int(min(d.Order.Uint32(at), math.MaxInt32))
}

// Orientation is the directory's orientation, 1 if there is none or it is not 1 to 8.
func (d Directory) Orientation() int {
	if o := d.Value(TagOrientation, 1); o >= 1 && o <= 8 {
		return o
	}
	return 1
}

// Orientation reads the orientation of a TIFF; an EXIF block is a TIFF without image.
func Orientation(exif []byte) int {
	d, err := FirstIFD(exif)
	if err != nil {
		return 1
	}
	return d.Orientation()
}
