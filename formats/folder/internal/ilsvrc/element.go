package ilsvrc

import (
	"encoding/binary"
	"math"
	"unicode/utf16"

	"github.com/dsconv/dsconv/internal/wire"
)

// The kinds of elements.
const (
	kindInt8       = 1
	kindUint8      = 2
	kindInt16      = 3
	kindUint16     = 4
	kindInt32      = 5
	kindUint32     = 6
	kindSingle     = 7
	kindDouble     = 9
	kindInt64      = 12
	kindUint64     = 13
	kindMatrix     = 14
	kindCompressed = 15
	kindUTF8       = 16
	kindUTF16      = 17
	kindUTF32      = 18
)

// The classes of arrays.
const (
	classCell   = 1
	classStruct = 2
	classObject = 3
	classChar   = 4
	classSparse = 5
)

// reader reads elements, one after another.
type reader struct {
	b         []byte
	bigEndian bool
}

// element is a kind and its data.
type element struct {
	kind      uint32
	data      []byte
	bigEndian bool
}

func (e *element) reader() reader { return reader{e.data, e.bigEndian} }

func order(bigEndian bool) binary.ByteOrder {
	if bigEndian {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// next reads an element and the bytes that align the one after it.
func (r *reader) next() (element, error) {
	if len(r.b) < 8 {
		return element{}, errShort
	}
	o := order(r.bigEndian)
	kind, size := o.Uint32(r.b), uint64(o.Uint32(r.b[4:]))
	if small := kind >> 16; small != 0 { // data of up to 4 bytes stand in the tag
		if small > 4 {
			return element{}, errShort
		}
		e := element{kind & 0xffff, r.b[4 : 4+small], r.bigEndian}
		r.b = r.b[8:]
		return e, nil
	}
	if size > uint64(len(r.b)-8) {
		return element{}, errShort
	}
	e := element{kind, r.b[8 : 8+size], r.bigEndian}
	used := 8 + size
	if kind != kindCompressed {
		used = min((used+7)&^7, uint64(len(r.b)))
	}
	r.b = r.b[used:]
	return e, nil
}

// matrix is the head of an array; rest has what follows.
type matrix struct {
	class byte
	count int
	name  string
	rest  reader
}

func parseMatrix(r reader) (matrix, error) {
	flags, err := r.next()
	if err != nil {
		return matrix{}, err
	}
	dims, err := r.next()
	if err != nil {
		return matrix{}, err
	}
	name, err := r.next()
	if err != nil {
		return matrix{}, err
	}
	if len(flags.data) != 8 {
		return matrix{}, errShort
	}
	m := matrix{class: byte(order(r.bigEndian).Uint32(flags.data)), count: 1, name: string(name.data), rest: r}
	for _, x := range dims.numbers() {
		n, ok := wire.Whole(x, maxStructs)
		if !ok || m.count > maxStructs {
			return m, errShort
		}
		m.count *= n
	}
	return m, nil
}

// width returns the number of bytes of a number, 0 if the element has none.
func (e *element) width() int {
	switch e.kind {
	case kindInt8, kindUint8, kindUTF8:
		return 1
	case kindInt16, kindUint16, kindUTF16:
		return 2
	case kindInt32, kindUint32, kindSingle, kindUTF32:
		return 4
	case kindDouble, kindInt64, kindUint64:
		return 8
	}
	return 0
}

func (e *element) numbers() []float64 {
	width := e.width()
	if width == 0 {
		return nil
	}
	list := make([]float64, len(e.data)/width)
	for i := range list {
		list[i] = e.number(e.data[i*width:])
	}
	return list
}

func (e *element) number(b []byte) float64 {
	o := order(e.bigEndian)
	switch e.kind {
	case kindInt8:
		return float64(int8(b[0]))
	case kindInt16:
		return float64(int16(o.Uint16(b)))
	case kindUint16, kindUTF16:
		return float64(o.Uint16(b))
	case kindInt32:
		return float64(int32(o.Uint32(b)))
	case kindUint32, kindUTF32:
		return float64(o.Uint32(b))
	case kindSingle:
		return float64(math.Float32frombits(o.Uint32(b)))
	case kindDouble:
		return math.Float64frombits(o.Uint64(b))
	case kindInt64:
		return float64(int64(o.Uint64(b)))
	case kindUint64:
		return float64(o.Uint64(b))
	}
	return float64(b[0])
}

// text returns the characters of an element.
func (e *element) text() string {
	if len(e.data) > maxTextBytes {
		return ""
	}
	switch e.kind {
	case kindUTF8:
		return string(e.data)
	case kindUint16, kindUTF16, kindInt16:
		units := make([]uint16, len(e.data)/2)
		for i := range units {
			units[i] = order(e.bigEndian).Uint16(e.data[2*i:])
		}
		return string(utf16.Decode(units))
	}
	runes := make([]rune, 0, len(e.data))
	for _, x := range e.numbers() {
		runes = append(runes, rune(x))
	}
	return string(runes)
}
