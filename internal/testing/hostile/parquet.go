package hostile

import (
	"bytes"
	"encoding/binary"
)

// compact appends fields of a structure in Thrift's compact protocol.
type compact struct {
	b    []byte
	last int
}

func (c *compact) field(id int, kind byte) {
	c.b, c.last = append(c.b, byte(id-c.last)<<4|kind), id
}

func (c *compact) number(id, x int) {
	c.field(id, 6)
	c.b = binary.AppendVarint(c.b, int64(x))
}

func (c *compact) text(id int, s string) {
	c.field(id, 8)
	c.b = append(binary.AppendUvarint(c.b, uint64(len(s))), s...)
}

func (c *compact) list(id, n int, kind byte, elements []byte) {
	c.field(id, 9)
	c.b = append(binary.AppendUvarint(append(c.b, 0xf0|kind), uint64(n)), elements...)
}

func (c *compact) group(id int, fields *compact) {
	c.field(id, 12)
	c.b = append(append(c.b, fields.b...), 0)
}

// Parquet is a file of columns of texts. All rows have one text, which is in the file once for each column: each page of
// many rows has two dozen bytes.
func Parquet(columns []string, rows int, text string) []byte {
	const most = 1 << 22 // rows of a page
	file := []byte("PAR1")
	page := func(kind, id, values, encoding int, body []byte) {
		var h, data compact
		h.number(1, kind)
		h.number(2, len(body))
		h.number(3, len(body))
		data.number(1, values)
		data.number(2, encoding)
		h.group(id, &data)
		file = append(append(append(file, h.b...), 0), body...)
	}
	var schema, chunks compact
	schema.text(4, "root")
	schema.number(5, len(columns))
	schema.b = append(schema.b, 0)
	for _, name := range columns {
		var element, chunk, meta compact
		element.number(1, 6) // bytes
		element.number(3, 0) // required
		element.text(4, name)
		element.number(6, 0) // UTF-8
		schema.b = append(append(schema.b, element.b...), 0)
		from := len(file)
		page(2, 7, 1, 0, append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...))
		first := len(file)
		for left := rows; left > 0; left -= most {
			n := min(left, most)
			page(0, 5, n, 8, append(binary.AppendUvarint([]byte{1}, uint64(n)<<1), 0))
		}
		meta.list(3, 1, 8, append([]byte{byte(len(name))}, name...))
		meta.number(4, 0)
		meta.number(5, rows)
		meta.number(6, len(file)-from)
		meta.number(7, len(file)-from)
		meta.number(9, first)
		meta.number(11, from)
		chunk.group(3, &meta)
		chunks.b = append(append(chunks.b, chunk.b...), 0)
	}
	var group, footer compact
	group.list(1, len(columns), 12, chunks.b)
	group.number(3, rows)
	footer.list(2, 1+len(columns), 12, schema.b)
	footer.number(3, rows)
	footer.list(4, 1, 12, append(bytes.Clone(group.b), 0))
	file = append(append(file, footer.b...), 0)
	return append(binary.LittleEndian.AppendUint32(file, uint32(len(footer.b)+1)), "PAR1"...)
}
