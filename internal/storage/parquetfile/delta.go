package parquetfile

import (
	"encoding/binary"
	"fmt"
)

// Decoders of the delta encodings. Each fills a slice that its caller allocated for the known number of values, and
// allocates nothing: the counts in a page are compared with the slice's length.

// maxBlock bounds the number of values in a block of the delta encoding.
const maxBlock = 1 << 16

// decodeDelta fills to with the DELTA_BINARY_PACKED values at the beginning of b.
func decodeDelta(to []int64, b []byte) (rest []byte, err error) {
	var head [3]uint64
	for i := range head {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, errPage
		}
		head[i], b = v, b[n:]
	}
	first, n := binary.Varint(b)
	if n <= 0 {
		return nil, errPage
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
	to[0] = first
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
func decodeDeltaBlock(to []int64, b []byte, last uint64, minis, each int) ([]int64, []byte, uint64, error) {
	minDelta, n := binary.Varint(b)
	if n <= 0 || len(b)-n < minis {
		return nil, nil, 0, errPage
	}
	widths, b := b[n:n+minis], b[n+minis:]
	for _, w := range widths {
		if len(to) == 0 {
			break
		}
		size := each * int(w) / 8
		if w > 64 || size > len(b) {
			return nil, nil, 0, errPage
		}
		values := to[:min(each, len(to))]
		for i := range values {
			last += uint64(minDelta) + bitsAt(b, i*int(w), uint(w))
			values[i] = int64(last)
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

// deltas reads present integers.
func (v *Values) deltas(c *Column, b []byte, present int) error {
	if c.Type != Int32 && c.Type != Int64 {
		return damaged("deltas of values of type %d", c.Type)
	}
	v.bits = resize(v.bits, present)
	if _, err := decodeDelta(v.bits, b); err != nil {
		return damaged("a page: %w", err)
	}
	if c.Type == Int32 {
		for i, x := range v.bits {
			v.bits[i] = int64(int32(x))
		}
	}
	return nil
}

// maxDeltaRatio bounds what texts that share their beginnings with those before them become.
const maxDeltaRatio = 64

// deltaBytes reads present texts: their lengths, and then their bytes. If they share their beginnings with those before them,
// the lengths of these come first.
func (v *Values) deltaBytes(c *Column, b []byte, present int, shared bool) (err error) {
	if !c.isBytes() {
		return damaged("lengths of values of type %d", c.Type)
	}
	limit := smallPage + maxDeltaRatio*len(b)
	var prefixes []int64
	if shared {
		prefixes = make([]int64, present)
		if b, err = decodeDelta(prefixes, b); err != nil {
			return damaged("a page: %w", err)
		}
	}
	v.lengths = resize(v.lengths, present)
	if b, err = decodeDelta(v.lengths, b); err != nil {
		return damaged("a page: %w", err)
	}
	v.spans, v.text = resize(v.spans, present), b
	if shared {
		v.text = nil
	}
	at, last := 0, []byte(nil)
	for i, n := range v.lengths {
		if n < 0 || n > int64(len(b)-at) {
			return damaged("a page: a string of %d bytes where %d are left", n, len(b)-at)
		}
		from, size := at, int(n)
		if shared {
			prefix := prefixes[i]
			if prefix < 0 || prefix > int64(len(last)) || len(v.text)+int(prefix)+size > limit {
				return damaged("a text shares %d bytes with one of %d", prefix, len(last))
			}
			from = len(v.text)
			v.text = append(append(v.text, last[:prefix]...), b[at:at+size]...)
			last, size = v.text[from:], size+int(prefix)
		}
		v.spans[i] = span{int32(from), int32(size)}
		at += int(n)
	}
	return nil
}
