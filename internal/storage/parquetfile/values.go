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
	// of ByteArray: row i is text[at[i]:][:length[i]], none if length is negative.
	text   []byte
	at     []int32
	length []int32
	// of numbers: their bits, and whether there is one; there nil means that all are.
	bits  []uint64
	there []bool
	cost  int
}

// Bytes returns the value of row i, which is the page's memory; ok is false if it is null.
func (v *Values) Bytes(i int) (b []byte, ok bool) {
	if i >= len(v.at) || v.length[i] < 0 {
		return nil, false
	}
	return v.text[v.at[i]:][:v.length[i]:v.length[i]], true
}

// Bits returns the number of row i; ok is false if it is null. Int32 is extended to 64 bits.
func (v *Values) Bits(i int) (x uint64, ok bool) {
	if i >= len(v.bits) || v.there != nil && !v.there[i] {
		return 0, false
	}
	return v.bits[i], true
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

// decode returns the values of a page of data. words is the dictionary, nil if there is none.
func (p *page) decode(c *Column, codec int64, words *Values) (*Values, error) {
	b, err := p.content(codec)
	if err != nil {
		return nil, err
	}
	v := &Values{rows: p.rows}
	levels := p.body[:p.levels]
	if p.kind == dataPage && c.maxLevel > 0 {
		if len(b) < 4 || binary.LittleEndian.Uint32(b) > uint32(len(b)-4) {
			return nil, errPage
		}
		n := 4 + int(binary.LittleEndian.Uint32(b))
		levels, b = b[4:n], b[n:]
	}
	present := p.rows
	if c.maxLevel > 0 {
		if present, err = v.readLevels(levels, c.maxLevel); err != nil {
			return nil, err
		}
	}
	switch p.encoding {
	case plainEncoding:
		err = v.plain(c, b, present)
	case rleEncoding:
		err = v.runs(c, b, present)
	case plainDictionary, rleDictionary:
		err = v.indexed(c, b, present, words)
	case deltaEncoding:
		err = v.deltas(c, b, present)
	case deltaLengths, deltaTexts:
		err = v.deltaBytes(c, b, present, p.encoding == deltaTexts)
	default:
		return nil, fmt.Errorf("%w: the column %s has the encoding %d; write it again as pyarrow does by default", formats.ErrSchema, c.Name(), p.encoding)
	}
	if err != nil {
		return nil, err
	}
	v.cost = max(len(b), len(v.text)) + 8*(len(v.at)+len(v.bits)) + len(v.there)
	return v, nil
}

// decodeDictionary returns the words of a dictionary page.
func (p *page) decodeDictionary(c *Column, codec int64) (*Values, error) {
	b, err := p.content(codec)
	if err != nil {
		return nil, err
	}
	if p.encoding != plainEncoding && p.encoding != plainDictionary {
		return nil, damaged("a dictionary with the encoding %d", p.encoding)
	}
	v := &Values{rows: p.values}
	if err := v.plain(c, b, p.values); err != nil {
		return nil, err
	}
	v.cost = len(b) + 8*(len(v.at)+len(v.bits))
	return v, nil
}

var errPage = damaged("a page ends within its values")

// readLevels reads which rows have a value, and returns how many.
func (v *Values) readLevels(b []byte, maxLevel int) (present int, err error) {
	v.there = make([]bool, v.rows)
	err = EachRun(b, uint(bits.Len(uint(maxLevel))), v.rows, func(i int, x uint32) error {
		if x > uint32(maxLevel) {
			return damaged("a level of %d, at most %d is possible", x, maxLevel)
		}
		if v.there[i] = x == uint32(maxLevel); v.there[i] {
			present++
		}
		return nil
	})
	return present, err
}

// EachRun reads n numbers of that width in Parquet's hybrid of run lengths and packed bits.
func EachRun(b []byte, width uint, n int, yield func(i int, x uint32) error) error {
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

// hasRow reports whether row i has a value.
func (v *Values) hasRow(i int) bool { return v.there == nil || v.there[i] }

// plain reads present values that lie one after another.
func (v *Values) plain(c *Column, b []byte, present int) error {
	switch c.Type {
	case ByteArray:
		return v.plainBytes(b, present)
	case fixedBytes:
		return v.fixedBytes(c, b, present)
	}
	size := map[Type]int{Int32: 4, Int64: 8, Float: 4, Double: 8}[c.Type]
	if c.Type == Boolean {
		if len(b) < (present+7)/8 {
			return errPage
		}
	} else if size == 0 {
		return fmt.Errorf("%w: the column %s has Parquet's type %d, which is not read", formats.ErrSchema, c.Name(), c.Type)
	} else if len(b)/size < present {
		return errPage
	}
	v.bits = make([]uint64, v.rows)
	k := 0
	for i := range v.bits {
		if !v.hasRow(i) {
			continue
		}
		switch size {
		case 0:
			v.bits[i] = uint64(b[k/8] >> (k % 8) & 1)
		case 4:
			x := binary.LittleEndian.Uint32(b[4*k:])
			if v.bits[i] = uint64(x); c.Type == Int32 {
				v.bits[i] = uint64(int64(int32(x)))
			}
		case 8:
			v.bits[i] = binary.LittleEndian.Uint64(b[8*k:])
		}
		k++
	}
	return nil
}

func (v *Values) plainBytes(b []byte, present int) error {
	if len(b)/4 < present {
		return errPage
	}
	v.text, v.at, v.length = b, make([]int32, v.rows), make([]int32, v.rows)
	at := 0
	for i := range v.at {
		if !v.hasRow(i) {
			v.length[i] = -1
			continue
		}
		if len(b)-at < 4 {
			return errPage
		}
		n := binary.LittleEndian.Uint32(b[at:])
		if at += 4; uint64(n) > uint64(len(b)-at) {
			return errPage
		}
		v.at[i], v.length[i] = int32(at), int32(n)
		at += int(n)
	}
	return nil
}

// fixedBytes reads present values of one length.
func (v *Values) fixedBytes(c *Column, b []byte, present int) error {
	if c.width <= 0 || len(b)/c.width < present {
		return errPage
	}
	v.text, v.at, v.length = b, make([]int32, v.rows), make([]int32, v.rows)
	for k, i := range v.presentRows(present) {
		v.at[i], v.length[i] = int32(k*c.width), int32(c.width)
	}
	return nil
}

// presentRows lists the rows with a value; the others are set to none.
func (v *Values) presentRows(present int) []int32 {
	rows := make([]int32, 0, present)
	for i := range v.rows {
		if v.hasRow(i) {
			rows = append(rows, int32(i))
		} else if v.length != nil {
			v.length[i] = -1
		}
	}
	return rows
}

// runs reads present bools that are encoded as runs, behind their length.
func (v *Values) runs(c *Column, b []byte, present int) error {
	if c.Type != Boolean {
		return damaged("runs of numbers of type %d", c.Type)
	}
	if len(b) < 4 {
		return errPage
	}
	v.bits = make([]uint64, v.rows)
	rows := v.presentRows(present)
	return EachRun(b[4:], 1, present, func(k int, x uint32) error {
		v.bits[rows[k]] = uint64(x & 1)
		return nil
	})
}

// indexed reads present values that are numbers of words of the dictionary.
func (v *Values) indexed(c *Column, b []byte, present int, words *Values) error {
	if words == nil {
		return damaged("a page of indexes without a dictionary")
	}
	if c.isBytes() {
		v.text, v.at, v.length = words.text, make([]int32, v.rows), make([]int32, v.rows)
	} else {
		v.bits = make([]uint64, v.rows)
	}
	rows := v.presentRows(present)
	if present == 0 {
		return nil
	}
	if len(b) == 0 || b[0] > 32 {
		return errPage
	}
	return EachRun(b[1:], uint(b[0]), present, func(k int, x uint32) error {
		if uint64(x) >= uint64(words.rows) {
			return damaged("word %d of a dictionary of %d", x, words.rows)
		}
		if i := rows[k]; v.length != nil {
			v.at[i], v.length[i] = words.at[x], words.length[x]
		} else {
			v.bits[i] = words.bits[x]
		}
		return nil
	})
}
