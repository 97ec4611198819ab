// Package offheap has large arrays of numbers outside of Go's heap. The heap grows to twice of what lives in
// it before garbage is collected; beside such an array it stays small. Pages that were never written
// take no memory.
package offheap

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Array is an array of numbers, zero at first. Its memory is freed when the Array is garbage.
type Array[T uint16 | int32] struct {
	list []T
}

// New returns an array of n numbers.
func New[T uint16 | int32](n int) (*Array[T], error) {
	a := new(Array[T])
	if n == 0 {
		return a, nil
	}
	size := n * int(unsafe.Sizeof(a.list[0]))
	mem, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("no memory of %d bytes: %w", size, err)
	}
	a.list = unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(mem))), n)
	runtime.AddCleanup(a, func(mem []byte) { _ = unix.Munmap(mem) }, mem)
	return a, nil
}

// Len returns the number of numbers.
func (a *Array[T]) Len() int { return len(a.list) }

// At returns number i.
func (a *Array[T]) At(i int) T {
	v := a.list[i]
	runtime.KeepAlive(a)
	return v
}

// Set sets number i.
func (a *Array[T]) Set(i int, v T) {
	a.list[i] = v
	runtime.KeepAlive(a)
}

// Use calls use with all numbers; the slice is valid until use returns.
func (a *Array[T]) Use(use func(list []T)) {
	use(a.list)
	runtime.KeepAlive(a)
}
