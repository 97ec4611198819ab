package h5file

import (
	"cmp"
	"slices"
)

// Dataset is an array of a file.
type Dataset struct {
	Type Type
	Dims []int // rows first; none for a scalar

	file    *File
	rowSize uint64 // bytes of a row as stored
	raw     []byte // the elements, if they are in one piece
	chunks  *chunked
	cache   chunkCache
}

// Dataset opens the array at path; ok is false if there is none: nothing, or a group.
func (f *File) Dataset(path string) (d *Dataset, ok bool, err error) {
	at, ok, err := f.lookup(path)
	if err != nil || !ok {
		return nil, false, err
	}
	list, err := f.messages(at)
	if err != nil {
		return nil, false, err
	}
	find := func(kind int) []byte {
		if i := slices.IndexFunc(list, func(m message) bool { return m.kind == kind }); i >= 0 {
			return list[i].body
		}
		return nil
	}
	layout := find(msgLayout)
	if layout == nil {
		return nil, false, nil
	}
	if find(msgExternal) != nil {
		return nil, false, unsupported("a dataset whose data are in other files")
	}
	d = &Dataset{file: f}
	if d.Type, err = parseType(find(msgDatatype)); err != nil {
		return nil, false, err
	}
	dims, err := parseSpace(find(msgDataspace))
	if err != nil {
		return nil, false, err
	}
	d.rowSize = uint64(d.Type.Size)
	for i, n := range dims {
		d.Dims = append(d.Dims, int(n))
		if i > 0 {
			d.rowSize *= n
		}
		if d.rowSize > 1<<40 || d.rowSize*uint64(d.Dims[0]) > 1<<50 {
			return nil, false, damaged("a dataset of the impossible shape %d", dims)
		}
	}
	filters, err := parseFilters(find(msgFilters))
	if err != nil {
		return nil, false, err
	}
	return d, true, d.layout(layout, dims, filters)
}

// Rows returns the length of the first dimension, 1 for a scalar.
func (d *Dataset) Rows() int {
	if len(d.Dims) == 0 {
		return 1
	}
	return d.Dims[0]
}

// RowSize returns the bytes of a row as stored. Of arrays of variable length it is that of the reference.
func (d *Dataset) RowSize() int { return int(d.rowSize) }

// The classes of layouts.
const (
	compact    = 0
	contiguous = 1
	chunks     = 2
)

// layout reads the layout message.
func (d *Dataset) layout(b []byte, dims []uint64, filters []filter) error {
	c := &cursor{b: b}
	version := c.u8()
	if version < 3 || version > 5 {
		return unsupported("version %d of the layout of a dataset", version)
	}
	total := d.rowSize * uint64(d.Rows())
	switch class := c.u8(); class {
	case compact:
		d.raw = c.take(c.u16())
	case contiguous:
		at, size := c.u64(), c.u64()
		if at == undefined || total == 0 {
			return d.checkSize(c, total)
		}
		var err error
		if d.raw, err = d.file.bytes(at, min(size, total)); err != nil {
			return err
		}
	case chunks:
		var err error
		if version == 3 {
			d.chunks, err = d.chunks3(c, dims)
		} else {
			d.chunks, err = d.chunks4(c, dims, len(filters) > 0)
		}
		if err != nil {
			return err
		}
		d.chunks.filters = filters
		return d.chunks.check()
	default:
		return unsupported("layout %d (virtual datasets)", class)
	}
	return d.checkSize(c, total)
}

// checkSize rejects a dataset that is not in the file as a whole.
func (d *Dataset) checkSize(c *cursor, total uint64) error {
	if c.failed || uint64(len(d.raw)) < total {
		return damaged("a dataset of %d bytes, of which %d are in the file", total, len(d.raw))
	}
	return nil
}

// chunked is a layout in chunks.
type chunked struct {
	shape   []uint64 // of a chunk, in elements
	counts  []uint64 // chunks along each dimension
	size    uint64   // of a chunk in bytes, without filters
	entries []entry  // sorted by number
	filters []filter
}

// entry is where a chunk is.
type entry struct {
	number uint64 // in the order of the chunks' first elements
	at     uint64
	size   uint64 // in the file
	mask   uint32 // filters that were left out
}

// maxChunk is the most bytes that a chunk may have.
const maxChunk = 128 << 20

func (d *Dataset) newChunked(shape []uint64, dims []uint64) (*chunked, error) {
	k := &chunked{shape: shape, size: uint64(d.Type.Size)}
	if len(shape) != len(dims) || len(dims) == 0 {
		return nil, damaged("chunks of %d dimensions in a dataset of %d", len(shape), len(dims))
	}
	total := uint64(1)
	for i, n := range shape {
		if n == 0 || n > maxChunk || k.size*n > maxChunk {
			return nil, unsupported("a chunk of the shape %d, which is larger than %d MiB", shape, maxChunk>>20)
		}
		k.size *= n
		count := (dims[i] + n - 1) / n
		if count > 0 && total > 1<<50/count {
			return nil, damaged("chunks of the shape %d in a dataset of the shape %d", shape, dims)
		}
		total *= max(count, 1)
		k.counts = append(k.counts, count)
	}
	return k, nil
}

// number returns the number of the chunk whose first element has those coordinates; ok is false if there is none.
func (k *chunked) number(offsets []uint64) (n uint64, ok bool) {
	for i, x := range offsets {
		at := x / k.shape[i]
		if x%k.shape[i] != 0 || at >= k.counts[i] {
			return 0, false
		}
		n = n*k.counts[i] + at
	}
	return n, true
}

// chunks3 reads a layout of version 3: a B-tree.
func (d *Dataset) chunks3(c *cursor, dims []uint64) (*chunked, error) {
	rank := c.u8() - 1
	tree := c.u64()
	var shape []uint64
	for range max(rank, 0) {
		shape = append(shape, uint64(c.u32()))
	}
	if size := c.u32(); c.failed || size != d.Type.Size {
		return nil, damaged("chunks of elements of %d bytes, not %d", size, d.Type.Size)
	}
	k, err := d.newChunked(shape, dims)
	if err != nil {
		return nil, err
	}
	offsets := make([]uint64, rank)
	return k, d.file.walk(tree, 1, 8+8*(rank+1), func(key []byte, child uint64) error {
		c := &cursor{b: key}
		e := entry{at: child, size: uint64(c.u32()), mask: uint32(c.u32())}
		for i := range offsets {
			offsets[i] = c.u64()
		}
		n, ok := k.number(offsets)
		if !ok { // a chunk that the dataset had when it was larger
			return nil
		}
		e.number = n
		k.entries = append(k.entries, e)
		return nil
	})
}

// The indexes of chunks in layouts of version 4.
const (
	singleChunk = 1
	implicit    = 2
)

// chunks4 reads a layout of version 4 or 5.
func (d *Dataset) chunks4(c *cursor, dims []uint64, filtered bool) (*chunked, error) {
	flags, rank, width := c.u8(), c.u8()-1, c.u8()
	var shape []uint64
	for range max(rank, 0) {
		shape = append(shape, c.number(min(width, 8)))
	}
	c.number(min(width, 8)) // of an element
	k, err := d.newChunked(shape, dims)
	if err != nil {
		return nil, err
	}
	switch index := c.u8(); index {
	case singleChunk:
		e := entry{size: k.size}
		if flags&2 != 0 && filtered {
			e.size, e.mask = c.u64(), uint32(c.u32())
		}
		if e.at = c.u64(); e.at != undefined {
			k.entries = []entry{e}
		}
	case implicit:
		at, total := c.u64(), uint64(1)
		for _, n := range k.counts {
			total *= n
		}
		if _, err := d.file.bytes(at, min(total, uint64(len(d.file.data)))*k.size); err != nil || total > uint64(len(d.file.data)) {
			return nil, damaged("%d chunks of %d bytes at byte %d", total, k.size, at)
		}
		for i := range total {
			k.entries = append(k.entries, entry{number: i, at: at + i*k.size, size: k.size})
		}
	default:
		return nil, unsupported("an index of chunks of libver=\"latest\"")
	}
	if c.failed {
		return nil, damaged("the layout of a dataset is not complete")
	}
	return k, nil
}

// check sorts the entries and rejects chunks that occur twice.
func (k *chunked) check() error {
	slices.SortFunc(k.entries, func(a, b entry) int { return cmp.Compare(a.number, b.number) })
	for i := 1; i < len(k.entries); i++ {
		if k.entries[i].number == k.entries[i-1].number {
			return damaged("a chunk occurs twice")
		}
	}
	return nil
}

func (k *chunked) find(number uint64) (entry, bool) {
	i, ok := slices.BinarySearchFunc(k.entries, number, func(e entry, n uint64) int { return cmp.Compare(e.number, n) })
	if !ok {
		return entry{}, false
	}
	return k.entries[i], true
}
