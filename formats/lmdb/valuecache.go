package lmdb

import (
	"sync/atomic"
	"unsafe"
)

// known remembers where the values lie that were found, by rank, so that they are not looked for
// again: 16 bytes a sample, of which the system gives memory as it is used. It is safe for
// concurrent use.
type valueCache []cachedValue

type cachedValue struct {
	offset atomic.Uint64 // in the file; 0 while it is not known
	size   atomic.Uint64
}

// get gives the value of the rank in data, the file.
func (k valueCache) get(data []byte, rank int) (b []byte, ok bool) {
	if rank >= len(k) {
		return nil, false
	}
	v := &k[rank]
	at := v.offset.Load()
	if at == 0 {
		return nil, false
	}
	end := at + v.size.Load()
	return data[at:end:end], true
}

// put remembers b, a value in data.
func (k valueCache) put(data []byte, rank int, b []byte) {
	if rank >= len(k) || len(b) == 0 {
		return
	}
	from, at := unsafe.Pointer(unsafe.SliceData(data)), unsafe.Pointer(unsafe.SliceData(b))
	v := &k[rank]
	v.size.Store(uint64(len(b)))
	v.offset.Store(uint64(uintptr(at) - uintptr(from)))
}
