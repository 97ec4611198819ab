package parquetfile

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/thrift"
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
		return nil, nil, fmt.Errorf("%w: its %d bytes are not a Parquet file, or it is truncated", formats.ErrDamaged, len(b))
	}
	n := int64(binary.LittleEndian.Uint32(b[tail:]))
	if n > int64(tail-4) {
		return nil, nil, fmt.Errorf("%w: a footer of %d bytes in a file of %d", formats.ErrDamaged, n, len(b))
	}
	return b[:tail-int(n)], b[tail-int(n) : tail], nil
}

// parseFooter reads the footer of the file b.
func parseFooter(b []byte) (*footer, error) {
	data, end, err := split(b)
	if err != nil {
		return nil, err
	}
	p := footerParser{footer: &footer{metadata: map[string]string{}}, t: thrift.New(end), size: int64(len(data)), left: int64(len(data)), names: map[string]bool{}}
	p.maxRows = int(min(math.MaxInt32, freeRows+maxRowsPerByte*int64(len(b))))
	rows := int64(-1)
	p.t.Fields(func(id int64, kind byte) bool {
		switch {
		case id == 2 && kind == thrift.List:
			p.schema()
		case id == 3:
			return p.t.Integer(kind, &rows)
		case id == 4 && kind == thrift.List:
			p.t.List(thrift.Struct, p.rowGroup)
		case id == 5 && kind == thrift.List:
			p.t.List(thrift.Struct, p.keyValue)
		default:
			return false
		}
		return true
	})
	if p.err != nil || p.t.Failed {
		return nil, fmt.Errorf("%w: the footer: %w", formats.ErrDamaged, cmp.Or(p.err, thrift.ErrInvalid))
	}
	if int64(p.rows) != rows {
		return nil, fmt.Errorf("%w: the row groups have %d rows, the footer says %d", formats.ErrDamaged, p.rows, rows)
	}
	return p.footer, nil
}

// footerParser fills a footer.
type footerParser struct {
	*footer
	t    *thrift.Reader
	size int64 // of the file before its footer
	left int64 // bytes of it that belong to no chunk so far
	// maxRows is the most rows that the file may have. A run of equal values has a few bytes, whatever its length. But rows of
	// images and tables of labels differ.
	maxRows int
	err     error // the first
	// names are those of the columns so far.
	names map[string]bool
}

func (p *footerParser) fail(format string, args ...any) {
	p.err = cmp.Or(p.err, fmt.Errorf(format, args...))
	p.t.Fail()
}

// element is an element of the schema: a column, or a group of the elements that follow.
type element struct {
	kind, width, repetition, children, converted int64
	name                                         string
	text                                         bool
}

func (p *footerParser) element() element {
	e := element{kind: -1, converted: -1}
	p.t.Fields(func(id int64, kind byte) bool {
		switch {
		case id == 1:
			return p.t.Integer(kind, &e.kind)
		case id == 2:
			return p.t.Integer(kind, &e.width)
		case id == 3:
			return p.t.Integer(kind, &e.repetition)
		case id == 4 && kind == thrift.Binary:
			e.name = string(p.t.Take(p.t.Size()))
		case id == 5:
			return p.t.Integer(kind, &e.children)
		case id == 6:
			return p.t.Integer(kind, &e.converted)
		case id == 10 && kind == thrift.Struct: // the logical type
			p.t.Fields(func(id int64, _ byte) bool {
				e.text = e.text || id == 1
				return false
			})
		default:
			return false
		}
		return true
	})
	e.text = e.text || e.converted == 0
	return e
}

// schema reads the list of elements: a tree, each group before its children.
func (p *footerParser) schema() {
	var open []nested // groups whose children follow
	total := 0
	p.t.List(thrift.Struct, func() {
		e := p.element()
		if total++; total > maxColumns || len(open) > maxNesting {
			p.fail("a schema of more than %d columns or %d nested groups", maxColumns, maxNesting)
			return
		}
		n := nested{left: e.children}
		if len(open) > 0 {
			last := &open[len(open)-1]
			last.left--
			n = last.child(e)
		}
		if e.children > 0 || total == 1 {
			open = append(open, n)
		} else {
			if name := strings.Join(n.path, "\x00"); p.names[name] {
				p.fail("two columns are named %q", strings.Join(n.path, "."))
			} else {
				p.names[name] = true
			}
			p.columns = append(p.columns, Column{n.path, Type(e.kind), e.text, n.level, n.lists, int(e.width)})
		}
		for len(open) > 0 && open[len(open)-1].left <= 0 {
			open = open[:len(open)-1]
		}
	})
}

// nested is a group of the schema of which children are to come.
type nested struct {
	path         []string
	left         int64
	level, lists int
}

// child is the element below the group.
func (g *nested) child(e element) nested {
	c := nested{append(slices.Clip(g.path), e.name), e.children, g.level, g.lists}
	if e.repetition != 0 {
		c.level++
	}
	if e.repetition == 2 {
		c.lists++
	}
	return c
}

func (p *footerParser) keyValue() {
	var key, value []byte
	p.t.Fields(func(id int64, kind byte) bool {
		if kind != thrift.Binary || id != 1 && id != 2 {
			return false
		}
		if b := p.t.Take(p.t.Size()); id == 1 {
			key = b
		} else {
			value = b
		}
		return true
	})
	const maxValue = 16 << 20 // ImageNet's 21,843 class names are 2 MB
	if len(key) < 256 && len(value) < maxValue && len(p.metadata) < 100 {
		p.metadata[string(key)] = string(value)
	}
}

func (p *footerParser) rowGroup() {
	g := group{from: p.rows}
	rows := int64(-1)
	p.t.Fields(func(id int64, kind byte) bool {
		switch {
		case id == 1 && kind == thrift.List:
			p.t.List(thrift.Struct, func() { g.chunks = append(g.chunks, p.chunk(len(g.chunks))) })
			return true
		case id == 3:
			return p.t.Integer(kind, &rows)
		}
		return false
	})
	switch {
	case rows < 0 || rows > int64(p.maxRows-p.rows):
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
	var path []string
	var first, dictionary int64
	meta := func(id int64, kind byte) bool {
		switch {
		case id == 3 && kind == thrift.List:
			p.t.List(thrift.Binary, func() {
				if name := p.t.Take(p.t.Size()); len(path) <= maxNesting {
					path = append(path, string(name))
				}
			})
			return true
		case id == 4:
			return p.t.Integer(kind, &c.codec)
		case id == 6:
			return p.t.Integer(kind, &c.plain)
		case id == 7:
			return p.t.Integer(kind, &c.size)
		case id == 9:
			return p.t.Integer(kind, &first)
		case id == 11:
			return p.t.Integer(kind, &dictionary)
		}
		return false
	}
	p.t.Fields(func(id int64, kind byte) bool {
		if id == 3 && kind == thrift.Struct {
			p.t.Fields(meta)
			return true
		}
		return false
	})
	c.from = first
	if dictionary > 0 {
		c.from = min(first, dictionary)
	}
	switch {
	case p.t.Failed:
	case i >= len(p.columns) || !slices.Equal(path, p.columns[i].Path):
		p.fail("column %d of a row group is %q: not that of the schema", i, strings.Join(path, "."))
	case c.from < 0 || c.size < 0 || c.plain < 0 || c.from > p.size || c.size > p.size-c.from || c.size > p.left:
		p.fail("the column %s has %d bytes at byte %d in a file of %d", p.columns[i].Name(), c.size, c.from, p.size)
	}
	p.left -= c.size
	return c
}
