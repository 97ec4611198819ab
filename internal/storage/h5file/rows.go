package h5file

import (
	"cmp"
	"slices"
	"sync"
)

// Row returns the bytes of row i as they are stored: memory of the file, or of the Dataset, which nobody may change. ErrDamaged if
// they were never written.
func (d *Dataset) Row(i int) ([]byte, error) {
	if i < 0 || i >= d.Rows() {
		return nil, damaged("there is no row %d: the dataset has %d", i, d.Rows())
	}
	if d.chunks == nil {
		at := uint64(i) * d.rowSize
		if at+d.rowSize > uint64(len(d.raw)) {
			return nil, damaged("row %d is not in the file", i)
		}
		return d.raw[at : at+d.rowSize : at+d.rowSize], nil
	}
	if d.rowSize > maxChunk {
		return nil, unsupported("a row of %d bytes in chunks", d.rowSize)
	}
	return d.gather(uint64(i))
}

// gather puts a row together from its chunks.
func (d *Dataset) gather(i uint64) ([]byte, error) {
	k := d.chunks
	inside := i % k.shape[0]
	rowOfChunk := k.size / k.shape[0]
	first := i / k.shape[0]
	per := uint64(1)
	for _, n := range k.counts[1:] {
		per *= n
	}
	if per == 1 && rowOfChunk == d.rowSize { // the row is a part of one chunk
		chunk, err := d.chunk(first)
		if err != nil {
			return nil, err
		}
		return chunk[inside*rowOfChunk : (inside+1)*rowOfChunk : (inside+1)*rowOfChunk], nil
	}
	if d.rowSize > maxRatio*uint64(len(d.file.data)) {
		return nil, damaged("a row of %d bytes in a file of %d", d.rowSize, len(d.file.data))
	}
	row := make([]byte, d.rowSize)
	at := make([]uint64, len(k.shape)) // of a chunk, in chunks
	for n := range per {
		rest := n
		for axis := len(at) - 1; axis > 0; axis-- {
			at[axis] = rest % k.counts[axis]
			rest /= k.counts[axis]
		}
		chunk, err := d.chunk(first*per + n)
		if err != nil {
			return nil, err
		}
		d.paste(row, chunk[inside*rowOfChunk:(inside+1)*rowOfChunk], at, 1, 0, 0)
	}
	return row, nil
}

// paste copies what a chunk has of a row, from axis on; to and from are offsets in elements.
func (d *Dataset) paste(row, chunk []byte, at []uint64, axis int, to, from uint64) {
	k := d.chunks
	size := uint64(d.Type.Size)
	start := at[axis] * k.shape[axis]
	n := min(k.shape[axis], uint64(d.Dims[axis])-start)
	to, from = to*uint64(d.Dims[axis])+start, from*k.shape[axis]
	if axis == len(at)-1 {
		copy(row[to*size:(to+n)*size], chunk[from*size:])
		return
	}
	for x := range n {
		d.paste(row, chunk, at, axis+1, to+x, from+x)
	}
}

// chunk returns the bytes of a chunk.
func (d *Dataset) chunk(number uint64) ([]byte, error) {
	e, ok := d.chunks.find(number)
	if !ok {
		return nil, damaged("these rows were never written")
	}
	b, err := d.file.bytes(e.at, e.size)
	if err != nil {
		return nil, err
	}
	if len(d.chunks.filters) == 0 {
		if uint64(len(b)) < d.chunks.size {
			return nil, damaged("a chunk has %d bytes instead of %d", len(b), d.chunks.size)
		}
		return b, nil
	}
	if chunk := d.cache.get(number); chunk != nil {
		return chunk, nil
	}
	chunk, err := undo(d.chunks.filters, e.mask, b, d.chunks.size, d.Type.Size)
	if err == nil {
		d.cache.put(number, chunk)
	}
	return chunk, err
}

// cachedBytes is the most memory of a dataset's chunks that were decompressed, but for one larger chunk.
const cachedBytes = 64 << 20

// chunkCache has the chunks that were decompressed last: rows that follow each other share them.
type chunkCache struct {
	sync.Mutex
	chunks map[uint64][]byte
	order  []uint64
	bytes  int
}

func (c *chunkCache) get(number uint64) []byte {
	c.Lock()
	defer c.Unlock()
	return c.chunks[number]
}

func (c *chunkCache) put(number uint64, chunk []byte) {
	c.Lock()
	defer c.Unlock()
	if c.chunks == nil {
		c.chunks = map[uint64][]byte{}
	}
	if c.chunks[number] != nil {
		return
	}
	for c.bytes > 0 && c.bytes+len(chunk) > cachedBytes { // a larger one is kept alone
		c.bytes -= len(c.chunks[c.order[0]])
		delete(c.chunks, c.order[0])
		c.order = c.order[1:]
	}
	c.chunks[number], c.order, c.bytes = chunk, append(c.order, number), c.bytes+len(chunk)
}

// Variable returns the bytes that the 16 bytes of ref refer to, of an element of the class Variable or VariableString, in the file's memory.
func (f *File) Variable(ref []byte) ([]byte, error) {
	c := &cursor{b: ref}
	n, at, index := c.u32(), c.u64(), c.u32()
	if c.failed {
		return nil, damaged("a reference of %d bytes", len(ref))
	}
	if n == 0 || at == 0 && index == 0 {
		return nil, nil
	}
	b, err := f.heapObject(at, index)
	if err != nil {
		return nil, err
	}
	if n > len(b) {
		return nil, damaged("a value of %d bytes, but object %d of the heap at byte %d has %d", n, index, at, len(b))
	}
	return b[:n:n], nil
}

// heapObject returns an object of a global heap.
func (f *File) heapObject(at uint64, number int) ([]byte, error) {
	list, err := f.heap(at)
	if err != nil {
		return nil, err
	}
	i, ok := slices.BinarySearchFunc(list, number, func(o heapEntry, number int) int { return cmp.Compare(int(o.number), number) })
	if !ok {
		return nil, damaged("the heap at byte %d has no object %d", at, number)
	}
	c, err := f.from(list[i].at)
	if err != nil {
		return nil, err
	}
	return c.take(int(c.u64())), nil
}

// heapEntry is where an object of a heap is: its size, and then its bytes.
type heapEntry struct {
	number uint16
	at     uint64
}

// heap lists the objects of a global heap by number. Each heap is gone through once, however many texts are in it.
func (f *File) heap(at uint64) ([]heapEntry, error) {
	f.heaps.Lock()
	defer f.heaps.Unlock()
	if list, ok := f.heaps.entries[at]; ok {
		return list, nil
	}
	c, err := f.from(at)
	if err != nil {
		return nil, err
	}
	sign, version := string(c.take(4)), c.u8()
	c.take(3)
	size := c.u64()
	if c.failed || sign != "GCOL" || version != 1 || size < 16 || size-16 > uint64(len(c.b)) {
		return nil, damaged("the heap at byte %d", at)
	}
	c.b = c.b[:size-16]
	end := at + size
	if f.heaps.left -= int(size); f.heaps.left < 0 {
		return nil, damaged("the heap at byte %d is in another one", at)
	}
	var list []heapEntry
	for len(c.b) >= 16 {
		number := c.u16()
		c.take(6)
		o := heapEntry{uint16(number), end - uint64(len(c.b))}
		n := c.u64()
		if number == 0 || n > uint64(len(c.b)) { // the free space
			break
		}
		list = append(list, o)
		c.take(int(n))
		c.take(min(int(-n&7), len(c.b)))
	}
	slices.SortStableFunc(list, func(a, b heapEntry) int { return cmp.Compare(a.number, b.number) })
	if f.heaps.entries == nil {
		f.heaps.entries = map[uint64][]heapEntry{}
	}
	f.heaps.entries[at] = list
	return list, nil
}
