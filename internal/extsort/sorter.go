package extsort

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// defaultMemory is the memory of a Sorter that was made with 0.
const defaultMemory = 256 << 20

const (
	// A block of a run is this large, unless one record is larger or the memory is small: as many runs as the memory has
	// blocks are merged within the memory, which is 200 GiB of records by default.
	minBlock, maxBlock = 4 << 10, 1 << 20
	blocks             = 1 << 10
	maxRecord          = 1 << 30
)

// Sorter sorts records by their keys. It belongs to one goroutine. Its memory is outside of Go's heap:
// garbage of others does not grow because a Sorter is large.
type Sorter struct {
	room  int    // of the buffer, in bytes
	block int    // bytes of a block
	buf   buffer // the records since the last run
	file         // the records before
	done  bool   // Each was called
	err   error  // of a call before: the records are not complete
}

// New returns an empty Sorter that takes about memory bytes, 0 means 256 MiB, and more only for records
// that do not fit. Beyond that it writes a temporary file into the folder dir, "" means os.TempDir(). It has
// no name any more when it is written, so that a killed process leaves nothing behind.
func New(dir string, memory int64) *Sorter {
	if memory <= 0 {
		memory = defaultMemory
	}
	return &Sorter{room: int(memory - memory/blocks), block: int(min(max(memory/blocks, minBlock), maxBlock)), file: file{dir: dir}}
}

// Add adds a record. It copies key and value. After an error the Sorter can only be closed.
func (s *Sorter) Add(key, value []byte) error {
	if s.done {
		return errors.New("extsort: Add after Each")
	}
	if n := len(key) + len(value); n > maxRecord {
		return fmt.Errorf("extsort: a record of %d bytes: the limit is %d", n, maxRecord)
	}
	if s.err == nil && !s.buf.add(key, value) {
		if s.err = s.makeRoom(recordSize(key, value)); s.err == nil {
			s.buf.add(key, value)
		}
	}
	return s.err
}

// recordSize is the most bytes that a record takes in a buffer.
func recordSize(key, value []byte) int {
	return 2*binary.MaxVarintLen64 + len(key) + len(value) + refSize
}

// makeRoom spills the buffer and makes sure that it is large enough for a record of n bytes.
func (s *Sorter) makeRoom(n int) error {
	if err := s.spill(); err != nil {
		return err
	}
	if size := max(s.room, n); size > s.buf.capacity() {
		return errors.Join(s.buf.free(), s.buf.alloc(size))
	}
	return nil
}

// spill writes the buffer's records as a run and empties the buffer.
func (s *Sorter) spill() (err error) {
	if s.buf.len() == 0 {
		return nil
	}
	if s.f == nil {
		if s.f, err = Temporary(s.dir); err != nil {
			return err
		}
	}
	w := &runWriter{file: &s.file, limit: s.block, block: make([]byte, blockHead, s.block)}
	if err := s.buf.each(w.add); err != nil {
		return err
	}
	s.buf.reset()
	if err := w.flush(); err != nil {
		return err
	}
	s.ends = append(s.ends, s.size)
	return nil
}

// Each calls yield for each record in the bytewise order of the keys; records with the same key come in the
// order of Add. The slices are valid until yield returns. An error of yield ends the loop and is returned.
// It may be called again.
func (s *Sorter) Each(yield func(key, value []byte) error) error {
	if s.done = true; s.err != nil {
		return s.err
	}
	if len(s.ends) == 0 {
		return s.buf.each(yield)
	}
	// The memory becomes free for whoever takes the records.
	if err := errors.Join(s.spill(), s.buf.free()); err != nil {
		return err
	}
	return s.merge(yield)
}

// Close frees the memory and the temporary file.
func (s *Sorter) Close() error {
	err := s.buf.free()
	if s.f != nil {
		err = errors.Join(err, s.f.Close())
	}
	s.f, s.done, s.err = nil, true, errors.New("extsort: it is closed")
	return err
}

// buffer has records in memory that the garbage collector does not know: the records from its start, a ref
// of each from its end towards them. Pages that no record needs are never touched.
type buffer struct {
	mem  []byte
	used int // bytes of records
	n    int // refs
}

// ref is a record while it is sorted.
type ref struct {
	digit  uint64 // of the key, at the depth of the sort
	offset uint64 // of the record in mem
}

const refSize = int(unsafe.Sizeof(ref{}))

func (b *buffer) alloc(size int) (err error) {
	page := unix.Getpagesize()
	size = (size + page - 1) / page * page
	if b.mem, err = unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE); err != nil {
		return fmt.Errorf("sort: no memory of %d bytes: %w", size, err)
	}
	return nil
}

func (b *buffer) free() error {
	mem := b.mem
	if *b = (buffer{}); mem == nil {
		return nil
	}
	return unix.Munmap(mem)
}

func (b *buffer) reset()        { b.used, b.n = 0, 0 }
func (b *buffer) len() int      { return b.n }
func (b *buffer) capacity() int { return len(b.mem) }

// add adds a record; it returns false if there is no room.
func (b *buffer) add(key, value []byte) bool {
	if b.used+b.n*refSize+recordSize(key, value) > len(b.mem) {
		return false
	}
	at := b.used
	p := binary.AppendUvarint(b.mem[:at], uint64(len(key)))
	p = binary.AppendUvarint(p, uint64(len(value)))
	p = append(append(p, key...), value...)
	b.used = len(p)
	b.n++
	b.refs()[0] = ref{offset: uint64(at)}
	return true
}

// refs returns the refs, the last record's first.
func (b *buffer) refs() []ref {
	if b.n == 0 {
		return nil
	}
	return unsafe.Slice((*ref)(unsafe.Pointer(&b.mem[len(b.mem)-b.n*refSize])), b.n)
}

// record returns the key and the value of a record.
func (b *buffer) record(r ref) (key, value []byte) {
	p := b.mem[r.offset:b.used]
	k, n := binary.Uvarint(p)
	v, m := binary.Uvarint(p[n:])
	p = p[n+m:]
	return p[:k:k], p[k : k+v : k+v]
}

// each sorts the records and calls yield for each.
func (b *buffer) each(yield func(key, value []byte) error) error {
	refs := b.refs()
	b.sort(refs, 0)
	for _, r := range refs {
		if err := yield(b.record(r)); err != nil {
			return err
		}
	}
	return nil
}

const (
	// digitBytes of a key are sorted at once.
	digitBytes = 7
	// Few records, and keys that are equal for very long, are compared as a whole.
	few, maxDepth = 16, 1 << 12
)

// sort sorts refs whose keys are equal in their first depth bytes. Keys of one folder have long common
// beginnings: comparing them as a whole would wait for memory at each comparison.
func (b *buffer) sort(refs []ref, depth int) {
	if len(refs) <= few || depth > maxDepth {
		slices.SortFunc(refs, b.compare)
		return
	}
	for i := range refs {
		key, _ := b.record(refs[i])
		refs[i].digit = digitAt(key, depth)
	}
	slices.SortFunc(refs, func(x, y ref) int {
		if x.digit != y.digit {
			return cmp.Compare(x.digit, y.digit)
		}
		return cmp.Compare(x.offset, y.offset)
	})
	for len(refs) > 0 {
		n := 1
		for n < len(refs) && refs[n].digit == refs[0].digit {
			n++
		}
		if n > 1 && refs[0].digit&0xff > digitBytes { // the keys go on
			b.sort(refs[:n], depth+digitBytes)
		}
		refs = refs[n:]
	}
}

func (b *buffer) compare(x, y ref) int {
	p, _ := b.record(x)
	q, _ := b.record(y)
	if c := bytes.Compare(p, q); c != 0 {
		return c
	}
	return cmp.Compare(x.offset, y.offset)
}

// digitAt returns the next bytes of the key as a number of the same order. Its last byte is the number of
// bytes that are left of the key, so that equal digits of keys that end there are equal keys.
func digitAt(key []byte, depth int) uint64 {
	var d [8]byte
	left := key[depth:]
	copy(d[:digitBytes], left)
	d[digitBytes] = byte(min(len(left), digitBytes+1))
	return binary.BigEndian.Uint64(d[:])
}
