//go:build cgo

package main

/*
#include <stdint.h>
*/
import "C"

import (
	"fmt"
	"unsafe"
)

// maxElements is more than any call lends.
const maxElements = 1 << 40

// slice is the n elements at p that C has lent.
func slice[T any](p *T, n C.int64_t) ([]T, error) {
	if n < 0 || n > maxElements || p == nil && n > 0 {
		return nil, fmt.Errorf("%w: %d elements at %p", errValue, int64(n), p)
	}
	return unsafe.Slice(p, int(n)), nil
}

// blocks are memory of the caller, in which the images of a run's batches are made. They belong
// to one goroutine at a time.
type blocks struct {
	size int
	free []unsafe.Pointer
	used map[unsafe.Pointer]bool
}

// lend adds a block.
func (b *blocks) lend(block unsafe.Pointer) { b.free = append(b.free, block) }

// get is a reader.Allocator.
func (b *blocks) get(int) []byte {
	n := len(b.free)
	if n == 0 {
		return nil
	}
	block := b.free[n-1]
	b.free = b.free[:n-1]
	b.used[block] = true
	return unsafe.Slice((*byte)(block), b.size)
}

// give says that a block, which was used, is the caller's again; it is false for any other.
func (b *blocks) give(images []byte) bool {
	block := unsafe.Pointer(unsafe.SliceData(images))
	ours := b.used[block]
	delete(b.used, block)
	return ours
}
