package manifest

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/internal/storage/thrift"
)

// chunk is a column chunk of a row group: consecutive pages.
type chunk struct {
	rows  int
	codec int64  // Parquet's CompressionCodec
	pages []byte // headers and bodies
}

// footer is the part of a Parquet file's metadata that the reader needs. The columns' own
// metadata describes their pages, so the schema is not read.
type footer struct {
	rows     int
	chunks   map[string][]chunk // of the wanted columns, one per row group
	optional map[string]bool    // columns that the file may lack
}

const parquetMagic = "PAR1"

// parseFooter reads the footer of the file b and finds the chunks of the wanted columns, and
// of optional ones, which either all row groups have or none.
// It checks that all chunks together are not larger than the file.
func parseFooter(b []byte, wanted, optional []column) (*footer, error) {
	tail := len(b) - 8
	if tail < 4 || string(b[:4]) != parquetMagic || string(b[tail+4:]) != parquetMagic {
		return nil, fmt.Errorf("its %d bytes are not a Parquet file", len(b))
	}
	n := int64(binary.LittleEndian.Uint32(b[tail:]))
	if n > int64(tail-4) {
		return nil, fmt.Errorf("a footer of %d bytes in a file of %d", n, len(b))
	}
	data := b[:tail-int(n)]
	f := &footer{chunks: map[string][]chunk{}, optional: map[string]bool{}}
	for _, c := range slices.Concat(wanted, optional) {
		if _, twice := f.chunks[c.name]; twice {
			return nil, fmt.Errorf("two columns are named %q", c.name)
		}
		f.chunks[c.name] = nil
	}
	for _, c := range optional {
		f.optional[c.name] = true
	}
	t := thrift.New(b[len(data):tail])
	p := footerParser{footer: f, thrift: t, data: data, left: int64(len(data))}
	rows := int64(-1)
	t.Fields(func(id int64, kind byte) bool {
		switch {
		case id == 3:
			return t.Integer(kind, &rows)
		case id == 4 && kind == thrift.List:
			t.List(thrift.Struct, p.rowGroup)
			return true
		}
		return false
	})
	if err := p.err; err != nil || t.Failed {
		err = cmp.Or(err, thrift.ErrInvalid)
		return nil, fmt.Errorf("the footer: %w", err)
	}
	if int64(f.rows) != rows {
		return nil, fmt.Errorf("the row groups have %d rows, the footer says %d", f.rows, rows)
	}
	return f, nil
}

// footerParser fills a footer.
type footerParser struct {
	*footer
	thrift *thrift.Reader
	data   []byte // the file before its footer
	left   int64  // bytes of it that belong to no chunk so far
	groups int
	err    error // the first
}

func (p *footerParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
	p.thrift.Fail()
}

func (p *footerParser) rowGroup() {
	rows := int64(-1)
	p.thrift.Fields(func(id int64, kind byte) bool {
		switch {
		case id == 1 && kind == thrift.List:
			p.thrift.List(thrift.Struct, p.columnChunk)
			return true
		case id == 3:
			return p.thrift.Integer(kind, &rows)
		}
		return false
	})
	p.groups++
	// Other code counts rows in 32 bits.
	if rows < 0 || rows > min(manifestRowGroup, math.MaxInt32-int64(p.rows)) {
		p.fail("row group %d says that it has %d rows", p.groups, rows)
		return
	}
	p.rows += int(rows)
	for name, chunks := range p.chunks {
		if len(chunks) == 0 && p.optional[name] {
			continue
		}
		if len(chunks) != p.groups {
			p.fail("row group %d has %d chunks of the column %s, want 1", p.groups, len(chunks)-p.groups+1, name)
			return
		}
		c := &chunks[p.groups-1]
		if int64(c.rows) != rows {
			p.fail("the column %s has %d values for %d rows", name, c.rows, rows)
			return
		}
	}
}

func (p *footerParser) columnChunk() {
	t := p.thrift
	t.Fields(func(id int64, kind byte) bool {
		if id == 3 && kind == thrift.Struct {
			p.columnMetaData()
			return true
		}
		return false
	})
}

func (p *footerParser) columnMetaData() {
	t := p.thrift
	var codec, values, size, data, dictionary int64
	var path []string
	t.Fields(func(id int64, kind byte) bool {
		switch id {
		case 3:
			if kind != thrift.List {
				return false
			}
			t.List(thrift.Binary, func() { path = append(path, unsafeString(t.Take(t.Size()))) })
			return true
		case 4:
			return t.Integer(kind, &codec)
		case 5:
			return t.Integer(kind, &values)
		case 7:
			return t.Integer(kind, &size)
		case 9:
			return t.Integer(kind, &data)
		case 11:
			return t.Integer(kind, &dictionary)
		}
		return false
	})
	name := strings.Join(path, ".")
	chunks, wanted := p.chunks[name]
	if !wanted || len(path) != 1 {
		return // a column of a later version or another tool
	}
	from := data
	if dictionary > 0 {
		from = min(from, dictionary)
	}
	if from < 0 || size < 0 || from > int64(len(p.data)) || size > int64(len(p.data))-from || size > p.left {
		p.fail("the column %s has %d bytes at byte %d in a file of %d", name, size, from, len(p.data))
		return
	}
	p.left -= size
	p.chunks[name] = append(chunks, chunk{rows: int(values), codec: codec, pages: p.data[from : from+size]})
}
