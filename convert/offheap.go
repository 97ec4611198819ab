package convert

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// offheapArray is an array of numbers outside of Go's heap, zero at first. The heap grows to twice of what lives in it before
// garbage is collected; beside such an array it stays small. Pages that were never written take no memory. The memory is
// freed when the offheapArray is garbage.
type offheapArray[T uint16 | int32] struct {
	list []T
}

// newOffheap returns an array of n numbers.
func newOffheap[T uint16 | int32](n int) (*offheapArray[T], error) {
	a := new(offheapArray[T])
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
func (a *offheapArray[T]) Len() int { return len(a.list) }

// At returns number i.
func (a *offheapArray[T]) At(i int) T {
	v := a.list[i]
	runtime.KeepAlive(a)
	return v
}

// Set sets number i.
func (a *offheapArray[T]) Set(i int, v T) {
	a.list[i] = v
	runtime.KeepAlive(a)
}

// Use calls use with all numbers; the slice is valid until use returns.
func (a *offheapArray[T]) Use(use func(list []T)) {
	use(a.list)
	runtime.KeepAlive(a)
}
