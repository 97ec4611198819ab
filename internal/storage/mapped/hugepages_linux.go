package mapped

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

const hugePage = 2 << 20

// AdviseHugePages asks for huge pages for the memory of s, which must not have been used yet.
// Access to a row of a large manifest then needs no walk through the page tables, and the system
// allocates the memory with few page faults. It is only a hint.
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
