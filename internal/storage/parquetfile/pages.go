package parquetfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/thrift"
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

// parsePage reads the page at the front of b.
func parsePage(b []byte) (p page, rest []byte, err error) {
	var size, stored, values, definitions, repetitions int64 = -1, -1, -1, 0, 0
	p.packed = true
	t := thrift.New(b)
	v1 := func(id int64, kind byte) bool {
		switch id {
		case 1:
			return t.Integer(kind, &values)
		case 2:
			return t.Integer(kind, &p.encoding)
		}
		return false
	}
	v2 := func(id int64, kind byte) bool {
		switch id {
		case 1:
			return t.Integer(kind, &values)
		case 4:
			return t.Integer(kind, &p.encoding)
		case 5:
			return t.Integer(kind, &definitions)
		case 6:
			return t.Integer(kind, &repetitions)
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
		case (id == 5 || id == 7) && kind == thrift.Struct:
			t.Fields(v1)
			return true
		case id == 8 && kind == thrift.Struct:
			t.Fields(v2)
			return true
		}
		return false
	})
	switch {
	case t.Failed:
		return p, nil, damaged("a page: %w", thrift.ErrInvalid)
	case stored < 0 || stored > int64(len(t.B)):
		return p, nil, damaged("a page of %d bytes where %d are left", stored, len(t.B))
	case size < 0 || size > maxPage || size > smallPage && size/maxRatio > stored:
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
func listPages(b []byte, rows int) (dictionary *page, data []page, err error) {
	at := 0
	for len(b) > 0 && at < rows {
		if len(data) == maxPages {
			return nil, nil, damaged("more than %d pages", maxPages)
		}
		var p page
		if p, b, err = parsePage(b); err != nil {
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

// content returns the page's bytes after the levels of version 2, decompressed. Uncompressed ones are those of the
// file.
func (p *page) content(codec int64) ([]byte, error) {
	body, size := p.body[p.levels:], p.size-p.levels
	if codec == uncompressed || !p.packed {
		if len(body) != size {
			return nil, damaged("a page of %d bytes claims %d", len(body), size)
		}
		return body, nil
	}
	b, err := decompress(codec, body, size)
	if err != nil {
		return nil, err
	}
	if len(b) != size {
		return nil, damaged("a page of %d bytes claims %d", len(b), size)
	}
	return b, nil
}

var codecNames = map[int64]string{3: "LZO", 5: "LZ4 in Hadoop's frames"}

// readPage reads all of z, which must have size bytes.
func readPage(z io.Reader, size int) ([]byte, error) {
	out := make([]byte, size)
	if _, err := io.ReadFull(z, out); err != nil {
		return nil, wrap(err)
	}
	if _, err := io.ReadFull(z, make([]byte, 1)); !errors.Is(err, io.EOF) {
		return nil, damaged("a page has more than the %d bytes that it claims", size)
	}
	return out, nil
}

func decompress(codec int64, b []byte, size int) ([]byte, error) {
	switch codec {
	case snappyCodec:
		if n, err := snappy.DecodedLen(b); err != nil || n != size {
			return nil, damaged("a page claims %d bytes, its content %d", size, n)
		}
		out, err := snappy.Decode(nil, b)
		return out, wrap(err)
	case zstdCodec:
		return unzstd(b, size)
	case gzipCodec:
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, wrap(err)
		}
		return readPage(z, size)
	case brotliCodec:
		return readPage(brotli.NewReader(bytes.NewReader(b)), size)
	case lz4Codec:
		out := make([]byte, size)
		n, err := lz4.UncompressBlock(b, out)
		return out[:max(n, 0)], wrap(err)
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
		return err
	}
	return z
}}

func unzstd(b []byte, size int) ([]byte, error) {
	got := decoders.Get()
	z, ok := got.(*zstd.Decoder)
	if !ok {
		return nil, got.(error)
	}
	defer decoders.Put(z)
	out, err := z.DecodeAll(b, make([]byte, 0, size))
	return out, wrap(err)
}
