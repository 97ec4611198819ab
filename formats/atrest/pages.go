package atrest

import (
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
)

// maxValue is the longest string that a column takes.
const maxString = 16 << 20

// maxPage is more bytes than a page that WriteManifest makes has before compression: it
// begins a page after 256 KiB, and writes batchText and one more row at most at once.
const maxPage = maxString + 2<<20

// zstdReach is what four compressed bytes can become at most: a block's header is of three
// bytes and it has one or more, and it is 128 KiB before compression.
const zstdMaxBlock = 128 << 10

// page is a page of a chunk: what its header says, and its bytes.
type page struct {
	kind     int64 // Parquet's PageType
	encoding int64
	values   int
	size     int // before compression
	packed   bool
	body     []byte
}

// nextPage reads the page that b begins with. It makes no memory.
func nextPage(b []byte) (p page, rest []byte, err error) {
	p.packed = true
	var size, stored, values, levels int64 = -1, -1, -1, 0
	t := &thriftReader{b: b}
	data := func(id int64, kind byte) bool {
		switch id {
		case 1:
			return t.integer(kind, &values)
		case 2: // nulls, or a dictionary's encoding
			if p.kind == int64(format.DictionaryPage) {
				return t.integer(kind, &p.encoding)
			}
		case 4:
			return t.integer(kind, &p.encoding)
		case 5, 6:
			n := int64(0)
			ok := t.integer(kind, &n)
			levels |= n
			return ok
		case 7:
			p.packed = kind != thriftFalse
		}
		return false
	}
	t.fields(func(id int64, kind byte) bool {
		switch {
		case id == 1:
			return t.integer(kind, &p.kind)
		case id == 2:
			return t.integer(kind, &size)
		case id == 3:
			return t.integer(kind, &stored)
		case kind == thriftStruct && (id == 7 && p.kind == int64(format.DictionaryPage) || id == 8 && p.kind == int64(format.DataPageV2)):
			t.fields(data)
			return true
		}
		return false
	})
	switch {
	case t.err != nil:
		return p, nil, t.err
	case stored < 0 || stored > int64(len(t.b)):
		return p, nil, fmt.Errorf("a page of %d bytes where there are %d", stored, len(t.b))
	case size < 0 || size > maxPage:
		return p, nil, fmt.Errorf("a page that claims %d bytes", size)
	case values < 0 || values > maxPage || levels != 0:
		return p, nil, fmt.Errorf("a page of kind %d that claims %d values and levels of %d bytes", p.kind, values, levels)
	}
	p.size, p.values, p.body = int(size), int(values), t.take(int(stored))
	return p, t.b, nil
}

// inflater decompresses pages, as many at once as the machine has cores.
var inflater = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true))
})

var errCodec = errors.New("a page that is compressed in another way than Zstandard")

// content gives the page's bytes before compression, in buf where they need room. limit is
// the most that the values can take. So memory is made for what compression can reach and
// for what the values need, whatever the header claims.
func (p *page) content(codec int64, limit int, buf *[]byte) ([]byte, error) {
	if p.size > limit {
		return nil, fmt.Errorf("a page of %d values that claims %d bytes", p.values, p.size)
	}
	if codec == int64(format.Uncompressed) || !p.packed {
		if len(p.body) != p.size {
			return nil, fmt.Errorf("a page of %d bytes that claims %d", len(p.body), p.size)
		}
		return p.body, nil
	}
	if codec != int64(format.Zstd) {
		return nil, errCodec
	}
	if p.size > (len(p.body)/4+1)*zstdMaxBlock {
		return nil, fmt.Errorf("a page of %d bytes that claims %d before compression", len(p.body), p.size)
	}
	z, err := inflater()
	if err != nil {
		return nil, err
	}
	if cap(*buf) < p.size {
		*buf = make([]byte, 0, p.size+p.size/8)
	}
	b, err := z.DecodeAll(p.body, (*buf)[:0:p.size])
	if err != nil {
		return nil, fmt.Errorf("decompress a page: %w", err)
	}
	if len(b) != p.size {
		return nil, fmt.Errorf("a page of %d bytes that claims %d", len(b), p.size)
	}
	return b, nil
}

// eachPage calls decode with each page of the chunks and its content, whose size limit
// bounds. All pages of values are of that encoding, and as many values as the rows; with
// RLEDictionary a page of words is before them.
func eachPage(chunks []chunk, encoding format.Encoding, limit func(*page) int, decode func(p *page, b []byte) error) error {
	var buf []byte
	for _, c := range chunks {
		left := c.rows
		for b, first := c.pages, true; len(b) > 0; first = false {
			at := c.offset + int64(len(c.pages)-len(b))
			p, rest, err := nextPage(b)
			if err == nil {
				err = p.check(encoding, first, left)
			}
			var content []byte
			if err == nil {
				content, err = p.content(c.codec, limit(&p), &buf)
			}
			if err == nil {
				err = decode(&p, content)
			}
			if err != nil {
				return fmt.Errorf("the page at byte %d: %w", at, err)
			}
			if b = rest; p.kind != int64(format.DictionaryPage) {
				left -= p.values
			}
		}
		if left != 0 {
			return fmt.Errorf("%d values of %d are missing", left, c.rows)
		}
	}
	return nil
}

// check reports a page that does not belong where it is: first in its chunk or not, where
// that many values are left.
func (p *page) check(encoding format.Encoding, first bool, left int) error {
	switch {
	case p.kind == int64(format.DictionaryPage):
		if encoding != format.RLEDictionary || !first {
			return errors.New("a dictionary where none belongs")
		}
	case p.encoding != int64(encoding):
		return fmt.Errorf("values in the encoding %v instead of %v", format.Encoding(p.encoding), encoding)
	case p.values > left:
		return fmt.Errorf("%d values where %d are left", p.values, left)
	}
	return nil
}
