package exif

import (
	"encoding/binary"
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

// Orientation reads the orientation of an EXIF block, a TIFF without image: 1 if there is none or it is not 1 to 8.
func Orientation(exif []byte) int {
	if len(exif) < 8 {
		return 1
	}
	var order binary.ByteOrder = binary.LittleEndian
	switch string(exif[:2]) {
	case "II":
	case "MM":
		order = binary.BigEndian
	default:
		return 1
	}
	at := int64(order.Uint32(exif[4:]))
	if at+2 > int64(len(exif)) {
		return 1
	}
	n := int64(order.Uint16(exif[at:]))
	for e := exif[at+2 : min(at+2+12*n, int64(len(exif)))]; len(e) >= 12; e = e[12:] {
		if order.Uint16(e) == TagOrientation {
			if o := first(order, exif, e); o >= 1 && o <= 8 {
				return int(o)
			}
			return 1
		}
	}
	return 1
}

// first returns the first value of an entry of type BYTE, SHORT or LONG, 0 if there is none.
func first(order binary.ByteOrder, exif, entry []byte) uint32 {
	size := uint64(0)
	switch order.Uint16(entry[2:]) {
	case typeByte:
		size = 1
	case TypeShort:
		size = 2
	case TypeLong:
		size = 4
	}
	at := entry[8:]
	if size*uint64(order.Uint32(entry[4:])) > 4 {
		off := int64(order.Uint32(at))
		if off+4 > int64(len(exif)) {
			return 0
		}
		at = exif[off:]
	}
	switch size {
	case 1:
		return uint32(at[0])
	case 2:
		return uint32(order.Uint16(at))
	case 4:
		return order.Uint32(at)
	}
	return 0
}
