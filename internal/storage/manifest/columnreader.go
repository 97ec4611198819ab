package manifest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/parquet-go/parquet-go/format"

	"github.com/dsconv/dsconv/internal/storage/parquetfile"
)

// columnReader reads a column, a page at a time.
type columnReader struct {
	column
	*pageReader
	chunks []chunk // not begun
	chunk          // the present one
	buf    []byte  // its present page, decompressed
	at     int     // the next value in the page
	ints   []int64 // of the page: numbers, lengths of strings, or which of the words
	bytes  []byte  // of the page: hashes, or the strings from at on
	words  []string
}

// next sets what the column points to to the next value. There must be one, by the footer.
func (c *columnReader) next() error {
	for c.at == len(c.ints) {
		if err := c.load(); err != nil {
			return err
		}
	}
	x := c.ints[c.at]
	switch p := c.value.(type) {
	case *int64:
		*p = x
	case *int:
		*p = int(int32(x))
	case *uint16:
		*p = uint16(x)
	case *[16]byte:
		copy(p[:], c.bytes[16*c.at:])
	case *string:
		if c.word {
			*p = c.words[x]
		} else {
			*p, c.bytes = unsafeString(c.bytes[:x]), c.bytes[x:]
		}
	}
	c.at++
	return nil
}

// load decodes the next page, which may have no values.
func (c *columnReader) load() error {
	if c.rows == 0 {
		if len(c.pages) > 0 {
			return fmt.Errorf("%d bytes follow the last page", len(c.pages))
		}
		c.chunk, c.chunks, c.words = c.chunks[0], c.chunks[1:], nil
		return nil
	}
	if len(c.pages) == 0 {
		return fmt.Errorf("%d values are missing", c.rows)
	}
	p, rest, err := nextPage(c.pages)
	if err != nil {
		return err
	}
	c.pages = rest
	if p.kind == int64(format.DictionaryPage) {
		if !c.word || c.words != nil {
			return errors.New("unexpected dictionary")
		}
		b, err := c.content(&p, c.codec, maxPage, &c.buf)
		if err == nil {
			c.words, err = decodeWords(p.values, b)
		}
		return err
	}
	return c.decode(&p)
}

// decode decodes a page of values.
func (c *columnReader) decode(p *page) error {
	encoding := c.encoding()
	switch {
	case p.encoding != int64(encoding):
		return fmt.Errorf("the values have the encoding %v, want %v", format.Encoding(p.encoding), encoding)
	case p.values > c.rows:
		return fmt.Errorf("%d values, but only %d are missing", p.values, c.rows)
	}
	b, err := c.content(p, c.codec, pageLimit(encoding, p.values), &c.buf)
	if err != nil {
		return err
	}
	c.rows -= p.values
	c.at, c.ints = 0, slices.Grow(c.ints[:0], p.values)[:p.values]
	switch encoding {
	case format.Plain:
		if c.bytes = b; len(b) != 16*p.values {
			err = fmt.Errorf("%d hashes of %d bytes", p.values, len(b))
		}
	case format.DeltaLengthByteArray:
		c.bytes, err = parquetfile.DecodeLengths(c.ints, b)
	case format.RLEDictionary:
		err = decodeIndexes(c.ints, b, len(c.words))
	default:
		_, err = parquetfile.DecodeDelta(c.ints, b)
	}
	return err
}

// pageLimit returns the largest size of a page of n values. An integer has at most 64 bits; each
// block of 128 begins with its minimum and four widths, and the last one is padded.
func pageLimit(encoding format.Encoding, n int) int {
	switch encoding {
	case format.Plain:
		return 16 * n
	case format.DeltaLengthByteArray:
		return maxPage
	}
	return 16*n + 512
}
