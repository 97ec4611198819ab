package lmdb

import (
	"sync/atomic"
	"unsafe"
)

// valueCache caches the locations of values that were found, by index, so that each is searched
// for once: 16 bytes per sample, allocated by the system when they are first used. It is safe for
// concurrent use.
type valueCache []cachedValue

type cachedValue struct {
	offset atomic.Uint64 // in the file; 0 if not cached
	size   atomic.Uint64
}

// get returns the value with that index in data, the file.
func (k valueCache) get(data []byte, index int) (b []byte, ok bool) {
	if index >= len(k) {
		return nil, false
	}
	v := &k[index]
	at := v.offset.Load()
	if at == 0 {
		return nil, false
	}
	end := at + v.size.Load()
	return data[at:end:end], true
}

// put caches the location of b, a value in data.
func (k valueCache) put(data []byte, index int, b []byte) {
	if index >= len(k) || len(b) == 0 {
		return
	}
	from, at := unsafe.Pointer(unsafe.SliceData(data)), unsafe.Pointer(unsafe.SliceData(b))
	v := &k[index]
	v.size.Store(uint64(len(b)))
	v.offset.Store(uint64(uintptr(at) - uintptr(from)))
}
