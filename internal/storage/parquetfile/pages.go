package parquetfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/wire"
)

// Parquet's numbers.
const (
	dataPage, dictionaryPage, dataPageV2                       = 0, 2, 3
	plainEncoding, plainDictionary, rleEncoding, rleDictionary = 0, 2, 3, 8
	deltaEncoding, deltaLengths, deltaTexts                    = 5, 6, 7
	uncompressed, snappyCodec, gzipCodec, zstdCodec            = 0, 1, 2, 6
	brotliCodec, lz4Codec                                      = 4, 7
)

const (
	// maxPage is the most that a page may have before compression: a page of pyarrow has up to 1,024 images.
	maxPage = 256 << 20
	// maxValues is the most values that a page may have.
	maxValues = 1 << 22
	// maxRatio bounds the compression of a page of more than smallPage.
	maxRatio  = 4096
	smallPage = 16 << 20
	// maxPages is the most pages of a chunk.
	maxPages = 1 << 18
)

// page is where a page is, and its header's values.
type page struct {
	kind, encoding int64
	from, rows     int // the number of its first row in the row group, and how many it has
	values         int
	size           int // before compression
	levels         int // bytes of levels in front of a page of version 2, which are never compressed
	packed         bool
	body           []byte
}

// parsePage reads the page at the front of b, which has at most most bytes before compression.
func parsePage(b []byte, most int) (p page, rest []byte, err error) {
	var size, stored, values, definitions, repetitions int64 = -1, -1, -1, 0, 0
	p.packed = true
	t := thriftReader{wire.Cursor{B: b}}
	v1 := fields{1: &values, 2: &p.encoding}
	v2 := fields{1: &values, 4: &p.encoding, 5: &definitions, 6: &repetitions, 7: &p.packed}
	t.read(fields{1: &p.kind, 2: &size, 3: &stored, 5: v1, 7: v1, 8: v2})
	switch {
	case t.Failed:
		return p, nil, damaged("a page: %w", errThrift)
	case stored < 0 || stored > int64(len(t.B)):
		return p, nil, damaged("a page of %d bytes where %d are left", stored, len(t.B))
	case size < 0 || size > int64(most) || size > smallPage && size/maxRatio > stored:
		return p, nil, damaged("a page of %d bytes claims %d before compression", stored, size)
	case p.kind == dataPage || p.kind == dictionaryPage || p.kind == dataPageV2:
		if values < 0 || values > maxValues || definitions < 0 || repetitions != 0 || definitions > min(size, stored) {
			return p, nil, damaged("a page claims %d values and levels of %d bytes", values, definitions)
		}
	}
	p.size, p.values, p.levels, p.body = int(size), int(max(values, 0)), int(definitions), t.Take(int(stored))
	return p, t.B, nil
}

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{formats.ErrDamaged}, args...)...)
}

// listPages lists the pages of a chunk of so many rows: the dictionary, if there is one, and those of data.
func listPages(b []byte, rows, most int) (dictionary *page, data []page, err error) {
	at := 0
	for len(b) > 0 && at < rows {
		if len(data) == maxPages {
			return nil, nil, damaged("more than %d pages", maxPages)
		}
		var p page
		if p, b, err = parsePage(b, most); err != nil {
			return nil, nil, err
		}
		switch {
		case p.kind == dictionaryPage && dictionary == nil && len(data) == 0:
			dictionary = &p
		case p.kind == dataPage || p.kind == dataPageV2:
			p.from, p.rows = at, p.values
			if at += p.rows; p.rows > 0 {
				data = append(data, p)
			}
		case p.kind == dictionaryPage:
			return nil, nil, damaged("a second dictionary")
		}
	}
	if at != rows {
		return nil, nil, damaged("the pages have %d rows, the row group %d", at, rows)
	}
	return dictionary, data, nil
}

// content returns the page's bytes after the levels of version 2, decompressed into buf. Uncompressed ones are those of the
// file.
func (p *page) content(codec int64, buf *[]byte) ([]byte, error) {
	b, size := p.body[p.levels:], p.size-p.levels
	if codec != uncompressed && p.packed {
		*buf = resize(*buf, size)
		var err error
		if b, err = decompress(codec, b, (*buf)[:size:size]); err != nil {
			return nil, err
		}
	}
	if len(b) != size {
		return nil, damaged("a page of %d bytes claims %d", len(b), size)
	}
	return b, nil
}

// resize returns n elements, in the memory of s if they fit. They may have any values.
func resize[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

var codecNames = map[int64]string{3: "LZO", 5: "LZ4 in Hadoop's frames"}

// readPage fills to with all of z.
func readPage(z io.Reader, to []byte) ([]byte, error) {
	if _, err := io.ReadFull(z, to); err != nil {
		return nil, wrap(err)
	}
	if _, err := io.ReadFull(z, make([]byte, 1)); !errors.Is(err, io.EOF) {
		return nil, damaged("a page has more than the %d bytes that it claims", len(to))
	}
	return to, nil
}

// decompress fills to with the content of b, or returns less.
func decompress(codec int64, b, to []byte) ([]byte, error) {
	switch codec {
	case snappyCodec:
		if n, err := snappy.DecodedLen(b); err != nil || n != len(to) {
			return nil, damaged("a page claims %d bytes, its content %d", len(to), n)
		}
		out, err := snappy.Decode(to, b)
		return out, wrap(err)
	case zstdCodec:
		z := decoders.Get().(*zstd.Decoder)
		defer decoders.Put(z)
		out, err := z.DecodeAll(b, to[:0])
		return out, wrap(err)
	case gzipCodec:
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, wrap(err)
		}
		return readPage(z, to)
	case brotliCodec:
		return readPage(brotli.NewReader(bytes.NewReader(b)), to)
	case lz4Codec:
		n, err := lz4.UncompressBlock(b, to)
		return to[:max(n, 0)], wrap(err)
	}
	name := codecNames[codec]
	return nil, fmt.Errorf("%w: its pages are compressed by %s (codec %d); write it again with Snappy, Zstandard, gzip or without compression", formats.ErrSchema, name, codec)
}

func wrap(err error) error {
	if err == nil {
		return nil
	}
	return damaged("a page cannot be decompressed: %w", err)
}

// decoders are Zstandard decoders that are not in use.
var decoders = sync.Pool{New: func() any {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderLowmem(true))
	if err != nil {
		panic(err) // invalid options
	}
	return z
}}
