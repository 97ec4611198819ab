package parquetfile

import (
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/wire"
)

// Kinds of values in Thrift's compact protocol, the encoding of Parquet's metadata.
const (
	isTrue    = 1
	isFalse   = 2
	anInt8    = 3
	anInt16   = 4
	anInt32   = 5
	anInt64   = 6
	double    = 7
	binary8   = 8
	aList     = 9
	set       = 10
	dict      = 11
	structure = 12
)

// maxDepth is more than the nesting depth of Parquet's metadata.
const maxDepth = 16

var errThrift = errors.New("the metadata is not valid Thrift")

// fields say where the fields of a structure are read to, by their numbers: *int64, *bool, *[]byte, fields of a structure,
// *[][]byte of at most maxNesting+1 elements, func() that reads an element of a list of structures, or *present. Others are skipped.
type fields map[int64]any

// present is set if there is a field, whatever it has.
type present bool

// thriftReader allocates nothing but what fields say: sizes larger than the rest of the input are errors, and bytes are
// slices of the input. After the first error every value is zero and Failed stays set.
type thriftReader struct{ wire.Cursor }

func (t *thriftReader) readByte() byte {
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

// read reads a structure.
func (t *thriftReader) read(f fields) {
	for id := int64(0); ; {
		head := t.readByte()
		if head == 0 {
			return
		}
		if step := int64(head >> 4); step != 0 {
			id += step
		} else {
			id = t.varint()
		}
		t.field(head&15, f[id])
	}
}

// field reads a field's value if it has the kind that to is for.
func (t *thriftReader) field(kind byte, to any) {
	switch to := to.(type) {
	case *int64:
		if kind >= anInt16 && kind <= anInt64 {
			*to = t.varint()
			return
		}
	case *bool:
		*to = kind != isFalse
	case *present:
		*to = true
	case *[]byte:
		if kind == binary8 {
			*to = t.Bytes()
			return
		}
	case fields:
		if kind == structure {
			t.read(to)
			return
		}
	case *[][]byte:
		if kind == aList {
			t.list(binary8, func() {
				if b := t.Bytes(); len(*to) <= maxNesting {
					*to = append(*to, b)
				}
			})
			return
		}
	case func():
		if kind == aList {
			t.list(structure, to)
			return
		}
	}
	t.skip(kind, maxDepth)
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

// listHead reads the number of a list's elements, of which each has at least one byte, and their kind.
func (t *thriftReader) listHead() (n int, kind byte) {
	head := t.readByte()
	if n = int(head >> 4); n == 15 {
		n = t.Length(1)
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
	case isTrue, isFalse: // the kind is the value
	case anInt8:
		t.readByte()
	case anInt16, anInt32, anInt64:
		t.varint()
	case double:
		t.Take(8)
	case binary8:
		t.Bytes()
	case aList, set:
		n, k := t.listHead()
		t.skipElements(n, depth, k)
	case dict:
		if n := t.Length(1); n > 0 {
			kinds := t.readByte()
			t.skipElements(n, depth, kinds>>4, kinds&15)
		}
	case structure:
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

func (t *thriftReader) skipElements(n, depth int, kinds ...byte) {
	for ; n > 0 && !t.Failed; n-- {
		for _, k := range kinds {
			if k == isTrue || k == isFalse {
				k = anInt8 // a boolean in a list takes one byte
			}
			t.skip(k, depth-1)
		}
	}
}

// Cursor reads a column from its first row on, one page at a time, in memory that it uses again. It is for one goroutine. If
// the file is mapped, the caller guards it.
type Cursor struct {
	Values        // of the present page
	file          *File
	column, group int       // group is the next one
	pages         *pageList // of the group before; data are those that are to come
	words         Values
}

// Cursor returns a Cursor before the first page.
func (f *File) Cursor(column int) *Cursor {
	return &Cursor{file: f, column: column, pages: &pageList{}}
}

// Next sets the Values to those of the next page, until the next call.
func (c *Cursor) Next() error {
	for loaded := false; !loaded; {
		var err error
		if loaded, err = c.load(); err != nil {
			return fmt.Errorf("%s: column %s of row group %d: %w", c.file.Path, c.file.footer.columns[c.column].Name(), c.group-1, err)
		}
	}
	return nil
}

// load decodes the next page, or the next row group's dictionary: then loaded is false.
func (c *Cursor) load() (loaded bool, err error) {
	f := c.file.footer
	if len(c.pages.data) == 0 {
		if c.group == len(f.groups) {
			return false, fmt.Errorf("there are only %d rows", f.rows)
		}
		if c.pages, err = c.file.list(c.group, c.column); err != nil {
			return false, err
		}
		if c.group++; c.pages.dictionary != nil {
			return false, c.words.decodeDictionary(c.pages.dictionary, &f.columns[c.column], f.groups[c.group-1].chunks[c.column].codec)
		}
		return false, nil
	}
	p := &c.pages.data[0]
	c.pages.data = c.pages.data[1:]
	var words *Values
	if c.pages.dictionary != nil {
		words = &c.words
	}
	return true, c.decode(p, &f.columns[c.column], f.groups[c.group-1].chunks[c.column].codec, words)
}

// Each calls use with each row of a column.
func (f *File) Each(column int, use func(row int, v *Values, i int) error) error {
	return guard.Read(f.mapping.Data, func() error {
		c := f.Cursor(column)
		for row := 0; row < f.Rows(); row += c.Rows() {
			if err := c.Next(); err != nil {
				return err
			}
			for i := range c.Rows() {
				if err := use(row+i, &c.Values, i); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
