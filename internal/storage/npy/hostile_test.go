package npy

import (
	"encoding/binary"
	"strings"
	"testing"
)

// Headers that lie about their length, their axes or their elements are errors, whatever
// they claim.
func TestHeadersThatLie(t *testing.T) {
	with := func(literal string) []byte {
		b := binary.LittleEndian.AppendUint16([]byte(magic), uint16(len(literal)))
		return append(b, literal...)
	}
	shaped := func(shape string) []byte {
		return with("{'descr': '<i8', 'fortran_order': False, 'shape': (" + shape + "), }")
	}
	for name, b := range map[string][]byte{
		"only magic":        []byte(magic),
		"length beyond":     append([]byte(magic), 0xff, 0xff),
		"no bytes":          shaped("1,"),
		"48 bits each":      shaped("281474976710655, 281474976710655, 281474976710655, 281474976710655"),
		"64 bits":           shaped("18446744073709551615,"),
		"overflows to none": shaped("4294967296, 4294967296, 4294967296, 4294967296"),
		"overflows to few":  append(shaped("2305843009213693953,"), make([]byte, 8)...),
		"negative":          shaped("-8,"),
		"with a sign":       shaped("+1,"),
		"a thousand axes":   shaped(strings.Repeat("1, ", 1000)),
		"for ever":          with("{" + strings.Repeat("'descr': '<i8', ", 3000)),
		"nested":            shaped(strings.Repeat("(", 5000)),
		"an object":         with("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"),
		"a record":          with("{'descr': [('a', '<i8')], 'fortran_order': False, 'shape': (1,), }"),
		"big end":           append(with("{'descr': '>i8', 'fortran_order': False, 'shape': (1,), }"), make([]byte, 8)...),
		"version 2":         append([]byte("\x93NUMPY\x02\x00\x10\x00\x00\x00"), make([]byte, 100)...),
	} {
		if _, shape, _, err := Parse(b); err == nil {
			t.Errorf("%s: taken, with the shape %v", name, shape)
		}
	}
}
