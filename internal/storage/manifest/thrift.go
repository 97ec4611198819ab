package manifest

import (
	"errors"

	"github.com/dsconv/dsconv/internal/wire"
)

// Kinds of values in Thrift's compact protocol.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftInt8   = 3
	thriftInt16  = 4
	thriftInt32  = 5
	thriftInt64  = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

// thriftDepth is more than the nesting depth of Parquet's metadata.
const thriftDepth = 16

var errThrift = errors.New("the metadata is not valid Thrift")

// thriftReader reads Thrift's compact protocol, the encoding of Parquet's metadata. It allocates
// nothing: sizes larger than the rest of the input are errors, and bytes are slices of the input.
// After the first error every value is zero and Failed stays set.
type thriftReader struct{ wire.Cursor }

func (t *thriftReader) byte() byte {
	if p := t.Take(1); p != nil {
		return p[0]
	}
	return 0
}

// varint reads a zigzag-encoded number.
func (t *thriftReader) varint() int64 {
	x := t.Uvarint()
	return int64(x>>1) ^ -int64(x&1)
}

// size reads the length of a byte string or list; elements have at least one byte.
func (t *thriftReader) size() int { return t.Length(1) }

// integer reads a field into v; false if the kind is not an integer's.
func (t *thriftReader) integer(kind byte, v *int64) bool {
	if kind < thriftInt16 || kind > thriftInt64 {
		return false
	}
	*v = t.varint()
	return true
}

// fields reads a structure. field reads the value of a field, or returns false if it did not.
func (t *thriftReader) fields(field func(id int64, kind byte) bool) {
	id := int64(0)
	for {
		head := t.byte()
		if head == 0 {
			return
		}
		if step := int64(head >> 4); step != 0 {
			id += step
		} else {
			id = t.varint()
		}
		if kind := head & 15; !field(id, kind) {
			t.skip(kind, thriftDepth)
		}
	}
}

// list reads a list of elements of that kind; each reads one.
func (t *thriftReader) list(kind byte, each func()) {
	n, k := t.listHead()
	if n > 0 && k != kind {
		t.Fail()
	}
	for ; n > 0 && !t.Failed; n-- {
		each()
	}
}

func (t *thriftReader) listHead() (n int, kind byte) {
	head := t.byte()
	if n = int(head >> 4); n == 15 {
		n = t.size()
	}
	return n, head & 15
}

// skip skips a field's value, nested at most depth levels.
func (t *thriftReader) skip(kind byte, depth int) {
	if depth == 0 {
		t.Fail()
		return
	}
	switch kind {
	case thriftTrue, thriftFalse: // the kind is the value
	case thriftInt8:
		t.byte()
	case thriftInt16, thriftInt32, thriftInt64:
		t.varint()
	case thriftDouble:
		t.Take(8)
	case thriftBinary:
		t.Take(t.size())
	case thriftList, thriftSet:
		n, k := t.listHead()
		t.skipElements(n, depth, k)
	case thriftMap:
		if n := t.size(); n > 0 {
			kinds := t.byte()
			t.skipElements(n, depth, kinds>>4, kinds&15)
		}
	case thriftStruct:
		for head := t.byte(); head != 0; head = t.byte() {
			if head>>4 == 0 {
				t.varint()
			}
			t.skip(head&15, depth-1)
		}
	default:
		t.Fail()
	}
}

func (t *thriftReader) skipElements(n, depth int, kinds ...byte) {
	for ; n > 0 && !t.Failed; n-- {
		for _, k := range kinds {
			if k == thriftTrue || k == thriftFalse {
				k = thriftInt8 // a boolean in a list takes one byte
			}
			t.skip(k, depth-1)
		}
	}
}
