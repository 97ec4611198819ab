package manifest

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/internal/wire"
)

// Decoders of the Parquet encodings that the manifest uses. Each fills a slice that its caller
// allocated for the known number of values, and allocates nothing: the counts in a page are
// compared with the slice's length.

var errTruncated = errors.New("the page ends within its values")

// maxBlock bounds the number of values in a block of the delta encoding.
const maxBlock = 1 << 16

// decodeDelta fills to with the DELTA_BINARY_PACKED values at the beginning of b.
func decodeDelta(to []int64, b []byte) (rest []byte, err error) {
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

// decodeIndexes fills to with the RLE_DICTIONARY indexes in b, which must be less than words.
func decodeIndexes(to []int64, b []byte, words int) error {
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
			if at >= uint64(words) {
				return fmt.Errorf("dictionary index %d of %d", at, words)
			}
			run[i] = int64(at)
		}
		to, b = to[len(run):], b[size:]
	}
	return nil
}

// decodeLengths fills to with the DELTA_LENGTH_BYTE_ARRAY lengths at the beginning of b, and returns
// the strings that follow, which have these lengths.
func decodeLengths(to []int64, b []byte) (strings []byte, err error) {
	if b, err = decodeDelta(to, b); err != nil {
		return nil, err
	}
	left := int64(len(b))
	for _, n := range to {
		if n < 0 || n > left {
			return nil, fmt.Errorf("a string of %d bytes where %d are left", n, left)
		}
		left -= n
	}
	return b, nil
}

// decodeWords returns copies of the n PLAIN strings in b.
func decodeWords(n int, b []byte) ([]string, error) {
	words := []string{}
	for c := (wire.Cursor{B: b}); len(words) < n; {
		p := c.Take(int(c.Uint32()))
		if c.Failed {
			return nil, errTruncated
		}
		words = append(words, string(p))
	}
	return words, nil
}
