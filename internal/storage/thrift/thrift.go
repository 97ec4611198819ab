// Package thrift reads the compact protocol of Thrift, the encoding of Parquet's metadata, with bounds checks.
package thrift

import (
	"errors"

	"github.com/dsconv/dsconv/internal/wire"
)

// Kinds of values in Thrift's compact protocol.
const (
	isTrue  = 1
	False   = 2
	anInt8  = 3
	anInt16 = 4
	anInt32 = 5
	anInt64 = 6
	double  = 7
	Binary  = 8
	List    = 9
	set     = 10
	dict    = 11
	Struct  = 12
)

// maxDepth is more than the nesting depth of Parquet's metadata.
const maxDepth = 16

// ErrInvalid is for a Reader that has failed.
var ErrInvalid = errors.New("the metadata is not valid Thrift")

// Reader reads Thrift's compact protocol, the encoding of Parquet's metadata. It allocates
// nothing: sizes larger than the rest of the input are errors, and bytes are slices of the input.
// After the first error every value is zero and Failed stays set.
type Reader struct{ wire.Cursor }

func (t *Reader) readByte() byte {
	if p := t.Take(1); p != nil {
		return p[0]
	}
	return 0
}

// varint reads a zigzag-encoded number.
func (t *Reader) varint() int64 {
	x := t.Uvarint()
	return int64(x>>1) ^ -int64(x&1)
}

// Size reads the length of a byte string or list; elements have at least one byte.
func (t *Reader) Size() int { return t.Length(1) }

// Integer reads a field into v; false if the kind is not an integer's.
func (t *Reader) Integer(kind byte, v *int64) bool {
	if kind < anInt16 || kind > anInt64 {
		return false
	}
	*v = t.varint()
	return true
}

// Fields reads a structure. field reads the value of a field, or returns false if it did not.
func (t *Reader) Fields(field func(id int64, kind byte) bool) {
	id := int64(0)
	for {
		head := t.readByte()
		if head == 0 {
			return
		}
		if step := int64(head >> 4); step != 0 {
			id += step
		} else {
			id = t.varint()
		}
		if kind := head & 15; !field(id, kind) {
			t.skip(kind, maxDepth)
		}
	}
}

// List reads a list of elements of that kind; each reads one.
func (t *Reader) List(kind byte, each func()) {
	n, k := t.listHead()
	if n > 0 && k != kind {
		t.Fail()
	}
	for ; n > 0 && !t.Failed; n-- {
		each()
	}
}

func (t *Reader) listHead() (n int, kind byte) {
	head := t.readByte()
	if n = int(head >> 4); n == 15 {
		n = t.Size()
	}
	return n, head & 15
}

// skip skips a field's value, nested at most depth levels.
func (t *Reader) skip(kind byte, depth int) {
	if depth == 0 {
		t.Fail()
		return
	}
	switch kind {
	case isTrue, False: // the kind is the value
	case anInt8:
		t.readByte()
	case anInt16, anInt32, anInt64:
		t.varint()
	case double:
		t.Take(8)
	case Binary:
		t.Take(t.Size())
	case List, set:
		n, k := t.listHead()
		t.skipElements(n, depth, k)
	case dict:
		if n := t.Size(); n > 0 {
			kinds := t.readByte()
			t.skipElements(n, depth, kinds>>4, kinds&15)
		}
	case Struct:
		for head := t.readByte(); head != 0; head = t.readByte() {
			if head>>4 == 0 {
				t.varint()
			}
			t.skip(head&15, depth-1)
		}
	default:
		t.Fail()
	}
}

func (t *Reader) skipElements(n, depth int, kinds ...byte) {
	for ; n > 0 && !t.Failed; n-- {
		for _, k := range kinds {
			if k == isTrue || k == False {
				k = anInt8 // a boolean in a list takes one byte
			}
			t.skip(k, depth-1)
		}
	}
}

// New returns a reader of b.
func New(b []byte) *Reader { return &Reader{wire.Cursor{B: b}} }
