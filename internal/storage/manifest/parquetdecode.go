package manifest

import (
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
	return parquetfile.EachRun(b[1:], uint(b[0]), len(to), func(i int, at uint32) error {
		if uint64(at) >= uint64(words) {
			return fmt.Errorf("dictionary index %d of %d", at, words)
		}
		to[i] = int64(at)
		return nil
	})
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
