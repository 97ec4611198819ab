package exif

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
