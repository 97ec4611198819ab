package manifest

import (
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"

	"github.com/dsconv/dsconv/internal/wire"
)

// maxString is the length limit of a string in a column.
const maxString = 16 << 20

// maxPage is more than the size of any page before compression: the writer begins a new page
// after 256 KiB, and one write has at most batchText bytes and one more row.
const maxPage = maxString + 2<<20

// zstdMaxBlock is the largest content of four compressed bytes: a block has a header of three
// bytes and one or more bytes, and at most 128 KiB before compression.
const zstdMaxBlock = 128 << 10

// page is a page of a chunk: its header's values and its bytes.
type page struct {
	kind     int64 // Parquet's PageType
	encoding int64
	values   int
	size     int // before compression
	packed   bool
	body     []byte
}

// nextPage reads the first page of b. It allocates nothing.
func nextPage(b []byte) (p page, rest []byte, err error) {
	p.packed = true
	var size, stored, values, levels int64 = -1, -1, -1, 0
	t := &thriftReader{wire.Cursor{B: b}}
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
	case t.Failed:
		return p, nil, errThrift
	case stored < 0 || stored > int64(len(t.B)):
		return p, nil, fmt.Errorf("a page of %d bytes where %d are left", stored, len(t.B))
	case size < 0 || size > maxPage:
		return p, nil, fmt.Errorf("a page declares %d bytes", size)
	case values < 0 || values > maxPage || levels != 0:
		return p, nil, fmt.Errorf("a page of kind %d declares %d values and levels of %d bytes", p.kind, values, levels)
	}
	p.size, p.values, p.body = int(size), int(values), t.Take(int(stored))
	return p, t.B, nil
}

// inflater decompresses pages, on as many cores as the machine has.
var inflater = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true))
})

var errCodec = errors.New("a page is compressed with something else than Zstandard")

// content returns the page's decompressed bytes, in buf if they were compressed. limit is the
// largest size that the values can have. So memory is bounded by what the compressed bytes can
// expand to and by what the values need, whatever the header declares.
func (p *page) content(codec int64, limit int, buf *[]byte) ([]byte, error) {
	if p.size > limit {
		return nil, fmt.Errorf("a page of %d values declares %d bytes", p.values, p.size)
	}
	if codec == int64(format.Uncompressed) || !p.packed {
		if len(p.body) != p.size {
			return nil, fmt.Errorf("a page of %d bytes declares %d", len(p.body), p.size)
		}
		return p.body, nil
	}
	if codec != int64(format.Zstd) {
		return nil, errCodec
	}
	if p.size > (len(p.body)/4+1)*zstdMaxBlock {
		return nil, fmt.Errorf("a page of %d bytes declares %d before compression", len(p.body), p.size)
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
		return nil, fmt.Errorf("a page of %d bytes declares %d", len(b), p.size)
	}
	return b, nil
}

// eachPage calls decode with each page of the chunks and its content, at most limit bytes. It
// checks that all pages of values have that encoding and together one value per row; with
// RLEDictionary a dictionary page precedes them.
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
				return fmt.Errorf("page at byte %d: %w", at, err)
			}
			if b = rest; p.kind != int64(format.DictionaryPage) {
				left -= p.values
			}
		}
		if left != 0 {
			return fmt.Errorf("%d of %d values are missing", left, c.rows)
		}
	}
	return nil
}

// check reports why a page is invalid where it is: first says whether it is the first page of
// its chunk, left how many values are missing.
func (p *page) check(encoding format.Encoding, first bool, left int) error {
	switch {
	case p.kind == int64(format.DictionaryPage):
		if encoding != format.RLEDictionary || !first {
			return errors.New("unexpected dictionary")
		}
	case p.encoding != int64(encoding):
		return fmt.Errorf("the values have the encoding %v, want %v", format.Encoding(p.encoding), encoding)
	case p.values > left:
		return fmt.Errorf("%d values, but only %d are missing", p.values, left)
	}
	return nil
}
