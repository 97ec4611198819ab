package atrest

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

const hugePage = 2 << 20

// HugePages asks for huge pages under the memory of s, which nothing has touched yet: a row
// of a large table is then found without a walk through the page tables, and the system
// gives the memory in a few large pieces. It is a hint: where it is not taken all works as
// well.
func AdviseHugePages[T any](s []T) {
	size := uintptr(cap(s)) * unsafe.Sizeof(*new(T))
	if size < 2*hugePage {
		return
	}
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), size)
	from := -uintptr(unsafe.Pointer(&b[0])) & (hugePage - 1)
	to := (size-from)&^(hugePage-1) + from
	_ = unix.Madvise(b[from:to], unix.MADV_HUGEPAGE)
}
