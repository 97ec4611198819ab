//go:build cgo

package codec

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// rowTIFF is an uncompressed TIFF of one row, with a sample format, and extra samples unless extra is negative. values are
// its samples: a list of int16, uint16 or float32.
func rowTIFF[V int16 | uint16 | float32](t *testing.T, photometric, samples, format, extra int, values ...V) []byte {
	t.Helper()
	le := binary.LittleEndian
	size := binary.Size(values[0])
	tags := [][4]int{
		{256, 3, 1, len(values) / samples},
		{257, 3, 1, 1},
		{258, 3, samples, 8 * size},
		{259, 3, 1, 1},
		{262, 3, 1, photometric},
		{273, 4, 1, 256},
		{277, 3, 1, samples},
		{278, 3, 1, 1},
		{279, 4, 1, size * len(values)},
		{338, 3, 1, extra},
		{339, 3, samples, format},
	}
	if extra < 0 {
		tags = slices.Delete(tags, 9, 10)
	}
	b := le.AppendUint16([]byte("II*\x00\x08\x00\x00\x00"), uint16(len(tags)))
	var lists []byte
	for _, tag := range tags {
		b = le.AppendUint32(le.AppendUint16(le.AppendUint16(b, uint16(tag[0])), uint16(tag[1])), uint32(tag[2]))
		if tag[2] < 3 {
			b = le.AppendUint32(b, uint32(tag[3]))
			continue
		}
		b = le.AppendUint32(b, uint32(160+len(lists)))
		for range tag[2] {
			lists = le.AppendUint16(lists, uint16(tag[3]))
		}
	}
	b = append(append(b, make([]byte, 160-len(b))...), lists...)
	b, err := binary.Append(append(b, make([]byte, 256-len(b))...), le, values)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Whatever of a TIFF does not become pixels is named: as 8 bits it is narrowed, and otherwise it is refused.
func TestTIFFsLoseNothingUnsaid(t *testing.T) {
	colors, eight := []uint16{1, 2, 3, 65535}, []uint16{257, 514, 771, 65535}
	for name, c := range map[string]struct {
		data          []byte
		said, refused string // as 8 bits; where all values are to be kept
	}{
		"CMYK":                          {rowTIFF(t, 5, 4, 1, -1, colors...), narrowedTIFF, "a TIFF of CMYK with 16 bits per channel"},
		"CMYK that was 8 bits":          {rowTIFF(t, 5, 4, 1, -1, eight...), "", ""},
		"premultiplied":                 {rowTIFF(t, 2, 4, 1, 1, colors...), narrowedTIFF, "a TIFF of colours multiplied by alpha with 16 bits per channel"},
		"premultiplied of 8 bits":       {rowTIFF(t, 2, 4, 1, 1, eight...), "", ""},
		"alpha":                         {rowTIFF(t, 2, 4, 1, 2, colors...), NarrowedCut, ""},
		"fractions":                     {rowTIFF[float32](t, 1, 1, 3, -1, 0.25, 1), narrowedFloats, "a TIFF of floats with values that are no integers"},
		"no number":                     {rowTIFF(t, 1, 1, 3, -1, float32(math.NaN())), narrowedFloats, "a TIFF of floats with values that are no integers"},
		"large floats":                  {rowTIFF[float32](t, 1, 1, 3, -1, 70000), narrowedFloats, "a TIFF of floats with values above 65535"},
		"integers as floats":            {rowTIFF[float32](t, 1, 1, 3, -1, 3, 300), NarrowedClipped, ""},
		"small integers as floats":      {rowTIFF[float32](t, 1, 1, 3, -1, 3, 255), "", ""},
		"negative":                      {rowTIFF[int16](t, 1, 1, 2, -1, -1, 3), narrowedIntegers, "a TIFF of signed integers with negative values"},
		"positive":                      {rowTIFF[int16](t, 1, 1, 2, -1, 1, 300), NarrowedClipped, ""},
		"negative after large positive": {rowTIFF[int16](t, 1, 1, 2, -1, 300, -1), narrowedIntegers, "negative values"},
	} {
		d := NewDecoder()
		for _, o := range []DecodeOptions{{Color: pixel.ColorRGB}, {Color: pixel.ColorGray}, {Color: pixel.ColorKeep}, {Color: pixel.ColorRGB, Deep: true}} {
			var m pixel.Image
			err := d.Decode(&m, &formats.Value{Data: c.data}, o)
			switch deep := o.Deep || o.Color == pixel.ColorKeep; {
			case deep && c.refused != "":
				if !errors.Is(err, pixel.ErrUnsupported) || !strings.Contains(err.Error(), c.refused) {
					t.Errorf("%s, %+v: %v", name, o, err)
				}
			case err != nil:
				t.Errorf("%s, %+v: %v", name, o, err)
			case deep && d.Narrowed() != "", !deep && d.Narrowed() != c.said:
				t.Errorf("%s, %+v: narrowed %q", name, o, d.Narrowed())
			}
		}
		if KeptDeep(c.said) != (c.said != "" && c.refused == "") {
			t.Errorf("%s: the advice to keep all bits would be wrong", name)
		}
		d.Close()
	}
}

func TestBigEndianBigTIFFIsNamed(t *testing.T) {
	if _, _, err := Inspect([]byte("MM\x00+\x00\x08\x00\x00")); !errors.Is(err, pixel.ErrNotImage) || !strings.Contains(err.Error(), "a big-endian BigTIFF") {
		t.Error(err)
	}
}
