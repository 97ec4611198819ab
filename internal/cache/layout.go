package cache

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"
)

// magic is the start of the file, with the version of its layout.
var magic = binary.NativeEndian.Uint64([]byte("dscache1"))

const (
	pageSize   = 1 << 16 // the largest page in use
	headerSize = 4096
	slotSize   = int(unsafe.Sizeof(slot{}))
	alignment  = 64 // of records
)

// header is the start of the file. Offsets count from there.
type header struct {
	magic, samples, limit uint64 // never change
	_                     [40]byte

	cursor atomic.Uint64 // offset of the first free byte
	backed atomic.Uint64 // offset up to which memory is allocated
	held   atomic.Int64  // samples that are ready
	full   atomic.Uint32 // a Reason
}

// slot locates a sample: word is the offset of its record, with the state in the low bits.
type slot struct {
	word atomic.Uint64
	size atomic.Uint64 // of the sample; of the record's memory while the slot is vacant
}

const (
	empty   = iota
	claimed // it is being filled, or the process that did was killed
	vacant  // it has a record, but filling it failed
	ready
	stateMask = alignment - 1
)

// RecordSize is the size that a sample counts toward the limit.
func RecordSize(size int) int64 { return int64(align(uint64(size), alignment)) }

// IndexSize is the memory that a cache takes in addition to the limit.
func IndexSize(samples int) int64 {
	return int64(align(headerSize+uint64(samples)*uint64(slotSize), pageSize))
}

func align(n, to uint64) uint64 { return (n + to - 1) &^ (to - 1) }

// checkHeader returns an error if a file of that size with header h is not the cache of c.
func (c Config) checkHeader(h *header, size int64) error {
	if h.magic != magic || size != fileSize(h.samples, h.limit) {
		return errors.New("it is not a cache of this version of dsconv")
	}
	if h.samples != uint64(c.Samples) {
		return fmt.Errorf("it is open elsewhere with %d samples, here with %d", h.samples, c.Samples)
	}
	if c.Limit != 0 && h.limit != uint64(c.Limit) {
		return fmt.Errorf("it is open elsewhere with a limit of %d bytes, here with %d", h.limit, c.Limit)
	}
	return nil
}

// fileSize is the length of a cache's file; -1 if the numbers make no sense.
func fileSize(samples, limit uint64) int64 {
	if samples > maxLimit/uint64(slotSize) || limit > maxLimit {
		return -1
	}
	return IndexSize(int(samples)) + int64(align(limit, pageSize))
}
