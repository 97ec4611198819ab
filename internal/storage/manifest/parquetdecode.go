package manifest

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/internal/storage/parquetfile"
	"github.com/dsconv/dsconv/internal/wire"
)

// Decoders of the Parquet encodings that the manifest uses. Each fills a slice that its caller
// allocated for the known number of values, and allocates nothing: the counts in a page are
// compared with the slice's length.

var errTruncated = errors.New("the page ends within its values")

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
			at := parquetfile.BitsAt(b[:size], i*step, width)
			if at >= uint64(words) {
				return fmt.Errorf("dictionary index %d of %d", at, words)
			}
			run[i] = int64(at)
		}
		to, b = to[len(run):], b[size:]
	}
	return nil
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
