package manifest

import (
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"

	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/storage/thrift"
)

// maxString is the length limit of a string in a column.
const maxString = sampleindex.MaxText

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
	t := thrift.New(b)
	data := func(id int64, kind byte) bool {
		switch id {
		case 1:
			return t.Integer(kind, &values)
		case 2: // nulls, or a dictionary's encoding
			if p.kind == int64(format.DictionaryPage) {
				return t.Integer(kind, &p.encoding)
			}
		case 4:
			return t.Integer(kind, &p.encoding)
		case 5, 6:
			n := int64(0)
			ok := t.Integer(kind, &n)
			levels |= n
			return ok
		case 7:
			p.packed = kind != thrift.False
		}
		return false
	}
	t.Fields(func(id int64, kind byte) bool {
		switch {
		case id == 1:
			return t.Integer(kind, &p.kind)
		case id == 2:
			return t.Integer(kind, &size)
		case id == 3:
			return t.Integer(kind, &stored)
		case kind == thrift.Struct && (id == 7 && p.kind == int64(format.DictionaryPage) || id == 8 && p.kind == int64(format.DataPageV2)):
			t.Fields(data)
			return true
		}
		return false
	})
	switch {
	case t.Failed:
		return p, nil, thrift.ErrInvalid
	case stored < 0 || stored > int64(len(t.B)):
		return p, nil, fmt.Errorf("a page of %d bytes where %d are left", stored, len(t.B))
	case size < 0 || size > maxPage:
		return p, nil, fmt.Errorf("a page declares %d bytes", size)
	case values < 0 || values > manifestRowGroup || levels != 0:
		return p, nil, fmt.Errorf("a page of kind %d declares %d values and levels of %d bytes", p.kind, values, levels)
	}
	p.size, p.values, p.body = int(size), int(values), t.Take(int(stored))
	return p, t.B, nil
}

// Bounds of the size of all strings: in bytes, and as a multiple of the file's size. Each row
// has two hashes that do not compress, so real manifests stay below them.
const (
	maxText   = 256 << 20
	textRatio = 32
)

// pageReader decompresses the pages of a file.
type pageReader struct {
	size int           // of the file
	text int           // bytes of pages of strings so far
	zstd *zstd.Decoder // nil before the first page
}

func (r *pageReader) close() {
	if r.zstd != nil {
		r.zstd.Close()
	}
}

var errCodec = errors.New("a page is compressed with something else than Zstandard")

// content returns the page's decompressed bytes, in buf if they were compressed. limit is the
// largest size that the values can have. So memory is bounded by what the compressed bytes can
// expand to and by what the values need, whatever the header declares.
func (r *pageReader) content(p *page, codec int64, limit int, buf *[]byte) ([]byte, error) {
	if p.size > limit {
		return nil, fmt.Errorf("a page of %d values declares %d bytes", p.values, p.size)
	}
	if limit == maxPage {
		if r.text += p.size; r.text > max(maxText, textRatio*r.size) {
			return nil, fmt.Errorf("its %d bytes declare strings of %d bytes", r.size, r.text)
		}
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
	if r.zstd == nil {
		z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return nil, err
		}
		r.zstd = z
	}
	if cap(*buf) < p.size {
		*buf = make([]byte, 0, p.size+p.size/8)
	}
	b, err := r.zstd.DecodeAll(p.body, (*buf)[:0:p.size])
	if err != nil {
		return nil, fmt.Errorf("decompress a page: %w", err)
	}
	if len(b) != p.size {
		return nil, fmt.Errorf("a page of %d bytes declares %d", len(b), p.size)
	}
	return b, nil
}
