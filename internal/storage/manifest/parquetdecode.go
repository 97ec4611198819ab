package manifest

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Decoders of the Parquet encodings that the manifest uses. Each fills a slice that its caller
// allocated for the known number of values, and allocates nothing: the counts in a page are
// compared with the slice's length.

var errTruncated = errors.New("the page ends within its values")

// maxBlock bounds the number of values in a block of the delta encoding.
const maxBlock = 1 << 16

// decodeDelta fills to with the DELTA_BINARY_PACKED values at the beginning of b.
func decodeDelta[T int32 | int64](to []T, b []byte) (rest []byte, err error) {
	var head [3]uint64
	for i := range head {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, errTruncated
		}
		head[i], b = v, b[n:]
	}
	first, n := binary.Varint(b)
	if n <= 0 {
		return nil, errTruncated
	}
	b = b[n:]
	block, minis := head[0], head[1]
	if block == 0 || block > maxBlock || minis == 0 || minis > block || block%minis != 0 || block/minis%32 != 0 {
		return nil, fmt.Errorf("invalid block of %d values in %d miniblocks", block, minis)
	}
	if head[2] != uint64(len(to)) {
		return nil, fmt.Errorf("%d values, want %d", head[2], len(to))
	}
	if len(to) == 0 {
		return b, nil
	}
	to[0] = T(first)
	last := uint64(first)
	for to = to[1:]; len(to) > 0; {
		if to, b, last, err = decodeDeltaBlock(to, b, last, int(minis), int(block/minis)); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// decodeDeltaBlock decodes a block of minis miniblocks of each values. Padding after the last
// value of a miniblock is skipped; a miniblock without values has no bytes.
func decodeDeltaBlock[T int32 | int64](to []T, b []byte, last uint64, minis, each int) ([]T, []byte, uint64, error) {
	minDelta, n := binary.Varint(b)
	if n <= 0 || len(b)-n < minis {
		return nil, nil, 0, errTruncated
	}
	widths, b := b[n:n+minis], b[n+minis:]
	for _, w := range widths {
		if len(to) == 0 {
			break
		}
		size := each * int(w) / 8
		if w > 64 || size > len(b) {
			return nil, nil, 0, errTruncated
		}
		values := to[:min(each, len(to))]
		for i := range values {
			last += uint64(minDelta) + bitsAt(b, i*int(w), uint(w))
			values[i] = T(last)
		}
		to, b = to[len(values):], b[size:]
	}
	return to, b, last, nil
}

// bitsAt returns the width bits, at most 64, that begin at that bit of b. They lie within b.
func bitsAt(b []byte, bit int, width uint) uint64 {
	if width == 0 {
		return 0
	}
	at, shift := bit>>3, uint(bit&7)
	if at+9 > len(b) {
		var padded [9]byte
		copy(padded[:], b[at:])
		b, at = padded[:], 0
	}
	v := binary.LittleEndian.Uint64(b[at:])>>shift | uint64(b[at+8])<<(64-shift)
	return v & (1<<width - 1)
}

// decodeIndexes fills to with dictionary[i] for each of the RLE_DICTIONARY indexes i in b.
func decodeIndexes(to []uint16, b []byte, dictionary []uint16) error {
	if len(to) == 0 {
		return nil
	}
	if len(b) == 0 || b[0] > 32 {
		return errTruncated
	}
	width := uint(b[0])
	for b = b[1:]; len(to) > 0; {
		head, n := binary.Uvarint(b)
		if n <= 0 {
			return errTruncated
		}
		b = b[n:]
		count, size := head>>1, uint64(width+7)/8
		packed := head&1 != 0
		if packed { // count is the number of groups of eight
			count, size = 8*min(count, maxPage), min(count, maxPage)*uint64(width)
		}
		// Only the last group of eight may extend beyond the last value.
		if size > uint64(len(b)) || count > (uint64(len(to))+7)&^7 || !packed && count > uint64(len(to)) {
			return fmt.Errorf("a run of %d values where %d are left", count, len(to))
		}
		run := to[:min(int(count), len(to))]
		step := 0
		if packed {
			step = int(width)
		}
		for i := range run {
			at := bitsAt(b[:size], i*step, width)
			if at >= uint64(len(dictionary)) {
				return fmt.Errorf("dictionary index %d of %d", at, len(dictionary))
			}
			run[i] = dictionary[at]
		}
		to, b = to[len(run):], b[size:]
	}
	return nil
}

// decodeStrings appends the n DELTA_LENGTH_BYTE_ARRAY strings of b to c. The caller has checked
// that n is at most the number of rows left.
func (c *stringColumn) decodeStrings(n int, b []byte, lengths *[]int32) error {
	if cap(*lengths) < n {
		*lengths = make([]int32, n)
	}
	l := (*lengths)[:n]
	b, err := decodeDelta(l, b)
	if err != nil {
		return err
	}
	from, left := uint64(len(c.data)), int64(len(b))
	end := from
	for _, v := range l {
		if left -= int64(v); v < 0 || left < 0 {
			return fmt.Errorf("a string of %d bytes where %d are left", v, left+int64(v))
		}
		end += uint64(v)
		c.end = append(c.end, end)
	}
	c.data = append(c.data, b[:end-from]...)
	return nil
}

// dictColumn holds strings with few different values.
type dictColumn struct {
	values []string
	index  []uint16
}

// decodeDictionary returns the index in c.values of each of the n PLAIN strings in b. It adds
// new strings to c.values and indexOf.
func (c *dictColumn) decodeDictionary(n int, b []byte, indexOf map[string]uint16) ([]uint16, error) {
	var indexes []uint16
	for range n {
		if len(b) < 4 {
			return nil, errTruncated
		}
		size := binary.LittleEndian.Uint32(b)
		if uint64(size) > uint64(len(b)-4) {
			return nil, errTruncated
		}
		i, ok := indexOf[string(b[4:4+size])]
		if !ok {
			if i = uint16(len(c.values)); int(i) != len(c.values) {
				return nil, fmt.Errorf("more than %d different values", len(c.values))
			}
			w := string(b[4 : 4+size])
			c.values, indexOf[w] = append(c.values, w), i
		}
		indexes, b = append(indexes, i), b[4+size:]
	}
	return indexes, nil
}
