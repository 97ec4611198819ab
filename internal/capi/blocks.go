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

// maxElements is more than any caller lends.
const maxElements = 1 << 40

// slice returns the n elements at p, which C has lent.
func slice[T any](p *T, n C.int64_t) ([]T, error) {
	if n < 0 || n > maxElements || p == nil && n > 0 {
		return nil, fmt.Errorf("%w: %d elements at %p", errValue, int64(n), p)
	}
	return unsafe.Slice(p, int(n)), nil
}

// blocks are memory of the caller that the images of a run's batches are written to. Only one
// goroutine at a time may use them.
type blocks struct {
	size int // bytes of each
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

// giveBack ends the use of the block that images lie in and reports whether it was in use.
func (b *blocks) giveBack(images []byte) bool {
	block := unsafe.Pointer(unsafe.SliceData(images))
	ours := b.used[block]
	delete(b.used, block)
	return ours
}
