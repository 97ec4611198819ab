package parquetfile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/internal/wire"
)

// Type is Parquet's physical type of a column.
type Type int64

// The types that are read.
const (
	Boolean   Type = 0
	Int32     Type = 1
	Int64     Type = 2
	Float     Type = 4
	Double    Type = 5
	ByteArray Type = 6
)

// fixedBytes are bytes of one length.
const fixedBytes Type = 7

// Column is a column with values, not a group of columns.
type Column struct {
	Path []string // from the outermost group
	Type Type
	Text bool // the bytes are UTF-8

	// maxLevel is the definition level of a value that is there; lists are how many of its groups repeat.
	maxLevel, lists int
	width           int // of fixedBytes
}

func (c *Column) isBytes() bool { return c.Type == ByteArray || c.Type == fixedBytes }

// IsRead reports whether values of the column can be read.
func (c *Column) IsRead() bool { return !c.IsList() && (c.isBytes() || c.Type.isNumber()) }

func (t Type) isNumber() bool {
	return t == Boolean || t == Int32 || t == Int64 || t == Float || t == Double
}

// IsList reports whether a row may have several values, which are not read.
func (c *Column) IsList() bool { return c.lists > 0 }

// Name returns the column's path with dots.
func (c *Column) Name() string { return strings.Join(c.Path, ".") }

// footer is what the end of a file says.
type footer struct {
	columns  []Column
	groups   []group
	metadata map[string]string // key and value, of those that are short enough
	rows     int
}

// group is a row group.
type group struct {
	from   int // number of its first row
	rows   int
	chunks []chunk // one per column
}

// chunk is a column of a row group: its pages lie one after another.
type chunk struct {
	from, size int64
	plain      int64 // bytes before compression
	codec      int64
}

const (
	magic = "PAR1"
	// maxColumns and maxNesting bound a schema.
	maxColumns = 10_000
	maxNesting = 16
	// freeRows and maxRowsPerByte bound the rows of a file.
	freeRows       = 1 << 20
	maxRowsPerByte = 16
)

// split returns the footer's bytes and what is before them.
func split(b []byte) (data, end []byte, err error) {
	tail := len(b) - 8
	if tail < 4 || string(b[:4]) != magic || string(b[tail+4:]) != magic {
		return nil, nil, damaged("its %d bytes are not a Parquet file, or it is truncated", len(b))
	}
	n := int64(binary.LittleEndian.Uint32(b[tail:]))
	if n > int64(tail-4) {
		return nil, nil, damaged("a footer of %d bytes in a file of %d", n, len(b))
	}
	return b[:tail-int(n)], b[tail-int(n) : tail], nil
}

// parseFooter reads the footer of the file b, whose row groups have at most maxGroup rows.
func parseFooter(b []byte, maxGroup int) (*footer, error) {
	data, end, err := split(b)
	if err != nil {
		return nil, err
	}
	p := footerParser{
		footer: &footer{metadata: map[string]string{}}, t: thriftReader{wire.Cursor{B: end}}, size: int64(len(data)), left: int64(len(data)),
		names: map[string]bool{}, maxGroup: int64(maxGroup), maxRows: int(min(math.MaxInt32, freeRows+maxRowsPerByte*int64(len(b)))),
	}
	rows := int64(-1)
	p.t.read(fields{2: p.element, 3: &rows, 4: p.rowGroup, 5: p.keyValue})
	if p.err != nil || p.t.Failed {
		return nil, damaged("the footer: %w", cmp.Or(p.err, errThrift))
	}
	if int64(p.rows) != rows {
		return nil, damaged("the row groups have %d rows, the footer says %d", p.rows, rows)
	}
	return p.footer, nil
}

// footerParser fills a footer.
type footerParser struct {
	*footer
	t    thriftReader
	size int64 // of the file before its footer
	left int64 // bytes of it that belong to no chunk so far
	// maxRows is the most rows that the file may have. A run of equal values has a few bytes, whatever its length. But rows of
	// images and tables of labels differ.
	maxRows  int
	maxGroup int64 // rows of a row group
	err      error // the first
	// names are those of the columns so far.
	names    map[string]bool
	elements int      // of the schema, so far
	open     []nested // groups whose children follow
}

func (p *footerParser) fail(format string, args ...any) {
	p.err = cmp.Or(p.err, fmt.Errorf(format, args...))
	p.t.Fail()
}

// element reads an element of the schema: a column, or a group of the elements that follow. The schema is a tree, each group
// before its children.
func (p *footerParser) element() {
	var kind, width, repetition, children, converted int64 = -1, 0, 0, 0, -1
	var name []byte
	var text present
	p.t.read(fields{1: &kind, 2: &width, 3: &repetition, 4: &name, 5: &children, 6: &converted, 10: fields{1: &text}})
	if p.elements++; p.elements > maxColumns || len(p.open) > maxNesting {
		p.fail("a schema of more than %d columns or %d nested groups", maxColumns, maxNesting)
		return
	}
	n := nested{left: children}
	if len(p.open) > 0 {
		last := &p.open[len(p.open)-1]
		last.left--
		n = last.child(string(name), children, repetition)
	}
	if children > 0 || p.elements == 1 {
		p.open = append(p.open, n)
	} else {
		if id := strings.Join(n.path, "\x00"); p.names[id] {
			p.fail("two columns are named %q", strings.Join(n.path, "."))
		} else {
			p.names[id] = true
		}
		p.columns = append(p.columns, Column{n.path, Type(kind), bool(text) || converted == 0, n.level, n.lists, int(width)})
	}
	for len(p.open) > 0 && p.open[len(p.open)-1].left <= 0 {
		p.open = p.open[:len(p.open)-1]
	}
}

// nested is a group of the schema of which children are to come.
type nested struct {
	path         []string
	left         int64
	level, lists int
}

// child is the element below the group.
func (g *nested) child(name string, children, repetition int64) nested {
	c := nested{append(slices.Clip(g.path), name), children, g.level, g.lists}
	if repetition != 0 {
		c.level++
	}
	if repetition == 2 {
		c.lists++
	}
	return c
}

func (p *footerParser) keyValue() {
	var key, value []byte
	p.t.read(fields{1: &key, 2: &value})
	const maxValue = 16 << 20 // ImageNet's 21,843 class names are 2 MB
	if len(key) < 256 && len(value) < maxValue && len(p.metadata) < 100 {
		p.metadata[string(key)] = string(value)
	}
}

func (p *footerParser) rowGroup() {
	g := group{from: p.rows}
	rows := int64(-1)
	p.t.read(fields{1: func() { g.chunks = append(g.chunks, p.chunk(len(g.chunks))) }, 3: &rows})
	switch {
	case rows < 0 || rows > int64(p.maxRows-p.rows) || rows > p.maxGroup:
		p.fail("row group %d says that it has %d rows after %d: a file of this size can have %d", len(p.groups), rows, p.rows, p.maxRows)
	case len(g.chunks) != len(p.columns):
		p.fail("row group %d has %d columns, the schema %d", len(p.groups), len(g.chunks), len(p.columns))
	}
	g.rows = int(rows)
	p.rows += g.rows
	p.groups = append(p.groups, g)
}

// chunk reads the description of a row group's column i.
func (p *footerParser) chunk(i int) (c chunk) {
	var path [][]byte
	var dictionary int64
	p.t.read(fields{3: fields{3: &path, 4: &c.codec, 6: &c.plain, 7: &c.size, 9: &c.from, 11: &dictionary}})
	if dictionary > 0 {
		c.from = min(c.from, dictionary)
	}
	switch {
	case p.t.Failed:
	case i >= len(p.columns) || !slices.EqualFunc(path, p.columns[i].Path, func(a []byte, b string) bool { return string(a) == b }):
		p.fail("column %d of a row group is %q: not that of the schema", i, bytes.Join(path, []byte(".")))
	case c.from < 0 || c.size < 0 || c.plain < 0 || c.from > p.size || c.size > p.size-c.from || c.size > p.left:
		p.fail("the column %s has %d bytes at byte %d in a file of %d", p.columns[i].Name(), c.size, c.from, p.size)
	}
	p.left -= c.size
	return c
}
