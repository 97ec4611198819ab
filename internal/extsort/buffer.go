package extsort

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

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
