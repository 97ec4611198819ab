package parquetfile

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"strconv"

	"github.com/dsconv/dsconv/formats"
)

// Values are those of a page, row by row.
type Values struct {
	rows int
	// place says which of the values is that of a row, -1 for none. Without it row i has value i.
	place []int32
	words *Values // the values are those of a dictionary
	// of texts: value k is text[spans[k]]; of bytes of one length, it is number k of text.
	text  []byte
	spans []span
	width int
	bits  []int64 // of numbers

	// memory that is used again
	buf     []byte // of the page, decompressed
	lengths []int64
	indexes []int32 // of words
}

// span is where a text is.
type span struct{ at, length int32 }

// Rows returns the number of rows.
func (v *Values) Rows() int { return v.rows }

// Numbers returns the numbers of all rows, nil if some have none or they are words of a dictionary.
func (v *Values) Numbers() []int64 {
	if v.place != nil {
		return nil
	}
	return v.bits
}

// cost is the memory that the values take.
func (v *Values) cost() int {
	return len(v.text) + 4*len(v.place) + 8*(len(v.spans)+len(v.bits)+len(v.lengths))
}

// at returns which value of which Values row i has; ok is false if it is null.
func (v *Values) at(i int) (of *Values, k int, ok bool) {
	k = i
	if v.place != nil {
		k = int(v.place[i])
	}
	if v.words != nil {
		v = v.words
	}
	return v, k, k >= 0
}

// Bytes returns the value of row i, which is the page's memory; ok is false if it is null.
func (v *Values) Bytes(i int) (b []byte, ok bool) {
	v, k, ok := v.at(i)
	switch {
	case !ok || v.bits != nil:
		return nil, false
	case v.width > 0:
		return v.text[k*v.width:][:v.width:v.width], true
	}
	s := v.spans[k]
	return v.text[s.at:][:s.length:s.length], true
}

// Bits returns the number of row i; ok is false if it is null. Int32 is extended to 64 bits.
func (v *Values) Bits(i int) (x uint64, ok bool) {
	v, k, ok := v.at(i)
	if !ok || v.bits == nil {
		return 0, false
	}
	return uint64(v.bits[k]), true
}

// Text returns the value of row i of the column c as text; ok is false if it is null.
func (v *Values) Text(c *Column, i int) (text string, ok bool) {
	if b, ok := v.Bytes(i); ok {
		return string(b), true
	}
	x, ok := v.Bits(i)
	switch {
	case !ok:
		return "", false
	case c.Type == Boolean:
		return strconv.FormatBool(x != 0), true
	case c.Type == Float:
		return strconv.FormatFloat(float64(math.Float32frombits(uint32(x))), 'g', -1, 32), true
	case c.Type == Double:
		return strconv.FormatFloat(math.Float64frombits(x), 'g', -1, 64), true
	}
	return strconv.FormatInt(int64(x), 10), true
}

// decode sets v to the values of a page of data. words is the dictionary, nil if there is none.
func (v *Values) decode(p *page, c *Column, codec int64, words *Values) error {
	b, err := p.content(codec, &v.buf)
	if err != nil {
		return err
	}
	levels := p.body[:p.levels]
	if p.kind == dataPage && c.maxLevel > 0 {
		if len(b) < 4 || binary.LittleEndian.Uint32(b) > uint32(len(b)-4) {
			return errPage
		}
		n := 4 + int(binary.LittleEndian.Uint32(b))
		levels, b = b[4:n], b[n:]
	}
	v.rows, v.place, v.words, v.text, v.width = p.rows, nil, nil, nil, 0
	present := p.rows
	if c.maxLevel > 0 {
		if present, err = v.readLevels(levels, c.maxLevel); err != nil {
			return err
		}
	}
	switch p.encoding {
	case plainEncoding:
		return v.plain(c, b, present)
	case rleEncoding:
		return v.runs(c, b, present)
	case plainDictionary, rleDictionary:
		return v.indexed(b, present, words)
	case deltaEncoding:
		return v.deltas(c, b, present)
	case deltaLengths, deltaTexts:
		return v.deltaBytes(c, b, present, p.encoding == deltaTexts)
	}
	return fmt.Errorf("%w: the column %s has the encoding %d; write it again as pyarrow does by default", formats.ErrSchema, c.Name(), p.encoding)
}

// decodeDictionary sets v to the words of a dictionary page.
func (v *Values) decodeDictionary(p *page, c *Column, codec int64) error {
	b, err := p.content(codec, &v.buf)
	if err != nil {
		return err
	}
	if p.encoding != plainEncoding && p.encoding != plainDictionary {
		return damaged("a dictionary with the encoding %d", p.encoding)
	}
	v.rows = p.values
	return v.plain(c, b, p.values)
}

var errPage = damaged("a page ends within its values")

// readLevels reads which rows have a value, and returns how many.
func (v *Values) readLevels(b []byte, maxLevel int) (present int, err error) {
	v.place = make([]int32, v.rows)
	err = eachRun(b, uint(bits.Len(uint(maxLevel))), v.rows, func(i int, x uint32) error {
		if x > uint32(maxLevel) {
			return damaged("a level of %d, at most %d is possible", x, maxLevel)
		}
		if v.place[i] = -1; x == uint32(maxLevel) {
			v.place[i] = int32(present)
			present++
		}
		return nil
	})
	return present, err
}

// eachRun reads n numbers of that width in Parquet's hybrid of run lengths and packed bits.
func eachRun(b []byte, width uint, n int, yield func(i int, x uint32) error) error {
	size := int(width+7) / 8
	for i := 0; i < n; {
		head, k := binary.Uvarint(b)
		if k <= 0 {
			return errPage
		}
		b = b[k:]
		if head&1 == 0 { // one number, repeated
			count := head >> 1
			if count == 0 || count > uint64(n-i) || len(b) < size {
				return errPage
			}
			x := littleEndian(b[:size])
			for b = b[size:]; count > 0; count-- {
				if err := yield(i, x); err != nil {
					return err
				}
				i++
			}
			continue
		}
		groups := head >> 1
		if groups == 0 || groups > uint64(n-i+7)/8 || groups*uint64(width) > uint64(len(b)) {
			return errPage
		}
		for k := range min(int(groups)*8, n-i) {
			if err := yield(i+k, uint32(bitsAt(b, k*int(width), width))); err != nil {
				return err
			}
		}
		i, b = min(n, i+int(groups)*8), b[groups*uint64(width):]
	}
	return nil
}

func littleEndian(b []byte) (x uint32) {
	for i, c := range b {
		x |= uint32(c) << (8 * i)
	}
	return x
}

// plain reads present values that lie one after another.
func (v *Values) plain(c *Column, b []byte, present int) error {
	size := map[Type]int{Int32: 4, Int64: 8, Float: 4, Double: 8, fixedBytes: c.width}[c.Type]
	switch {
	case c.Type == ByteArray:
		return v.plainBytes(b, present)
	case c.Type == Boolean:
		if len(b) < (present+7)/8 {
			return errPage
		}
	case size == 0 && c.Type != fixedBytes:
		return fmt.Errorf("%w: the column %s has Parquet's type %d, which is not read", formats.ErrSchema, c.Name(), c.Type)
	case size <= 0 || len(b)/size < present:
		return errPage
	case c.Type == fixedBytes:
		v.text, v.width = b, size
		return nil
	}
	v.bits = resize(v.bits, present)
	for i := range v.bits {
		switch size {
		case 0:
			v.bits[i] = int64(b[i/8] >> (i % 8) & 1)
		case 4:
			x := binary.LittleEndian.Uint32(b[4*i:])
			if v.bits[i] = int64(x); c.Type == Int32 {
				v.bits[i] = int64(int32(x))
			}
		case 8:
			v.bits[i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
		}
	}
	return nil
}

func (v *Values) plainBytes(b []byte, present int) error {
	if len(b)/4 < present {
		return errPage
	}
	v.text, v.spans = b, resize(v.spans, present)
	at := 0
	for i := range v.spans {
		if len(b)-at < 4 {
			return errPage
		}
		n := binary.LittleEndian.Uint32(b[at:])
		if at += 4; uint64(n) > uint64(len(b)-at) {
			return errPage
		}
		v.spans[i] = span{int32(at), int32(n)}
		at += int(n)
	}
	return nil
}

// runs reads present bools that are encoded as runs, behind their length.
func (v *Values) runs(c *Column, b []byte, present int) error {
	if c.Type != Boolean {
		return damaged("runs of numbers of type %d", c.Type)
	}
	if len(b) < 4 {
		return errPage
	}
	v.bits = resize(v.bits, present)
	return eachRun(b[4:], 1, present, func(i int, x uint32) error {
		v.bits[i] = int64(x & 1)
		return nil
	})
}

// indexed reads present values that are numbers of words of the dictionary, which v shares.
func (v *Values) indexed(b []byte, present int, words *Values) error {
	if words == nil {
		return damaged("a page of indexes without a dictionary")
	}
	if present > 0 && (len(b) == 0 || b[0] > 32) {
		return errPage
	}
	v.words, v.indexes = words, resize(v.indexes, present)
	if present > 0 {
		err := eachRun(b[1:], uint(b[0]), present, func(i int, x uint32) error {
			if uint64(x) >= uint64(words.rows) {
				return damaged("word %d of a dictionary of %d", x, words.rows)
			}
			v.indexes[i] = int32(x)
			return nil
		})
		if err != nil {
			return err
		}
	}
	if v.place == nil {
		v.place = v.indexes
		return nil
	}
	for i, k := range v.place {
		if k >= 0 {
			v.place[i] = v.indexes[k]
		}
	}
	return nil
}
