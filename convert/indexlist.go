package convert

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// indexList has the source's indices of a plan's samples by position. As long as they are 0, 1, 2, ... it
// takes no memory, after that 4 bytes a sample.
type indexList struct {
	n       int
	indices *offheapArray[int32] // nil as long as positions are indices
}

// add appends index i. expected is the number of indices that the list will probably have.
func (l *indexList) add(i, expected int) error {
	if l.indices == nil && i != l.n || l.indices != nil && l.n == l.indices.Len() {
		if err := l.grow(max(2*l.n, expected, 1)); err != nil {
			return err
		}
	}
	if l.indices != nil {
		l.indices.Set(l.n, int32(i))
	}
	l.n++
	return nil
}

// grow makes an array of at least size indices.
func (l *indexList) grow(size int) error {
	indices, err := newOffheap[int32](size)
	if err != nil {
		return err
	}
	for pos := range l.n {
		indices.Set(pos, int32(l.at(pos)))
	}
	l.indices = indices
	return nil
}

// at returns the index at a position.
func (l *indexList) at(pos int) int {
	if l.indices == nil {
		return pos
	}
	return int(l.indices.At(pos))
}

func (l *indexList) arrange(o Order) error {
	if l.indices == nil {
		if err := l.grow(l.n); err != nil {
			return err
		}
	}
	l.indices.Use(func(list []int32) { o.Arrange(list[:l.n]) })
	return nil
}

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
