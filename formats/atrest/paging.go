package atrest

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// adviceLength is how many bytes the system is told of at a time: of more than its read-ahead
// window, 128 KiB by default, Linux drops the rest.
const adviceLength = 128 << 10

var pageSize = int64(os.Getpagesize())

func pageOf(off int64) int64 { return off &^ (pageSize - 1) }

// willNeed tells the system that the bytes from a page's first to to will be used soon. An
// error would show again, with its cause, when they are.
func (m *Mapping) willNeed(from, to int64) {
	for ; from < to; from += adviceLength {
		_ = unix.Madvise(m.Data[from:min(from+adviceLength, to)], unix.MADV_WILLNEED)
	}
}

// Offset is where b, a part of Data, begins in the file.
func (m *Mapping) Offset(b []byte) int64 {
	return int64(uintptr(unsafe.Pointer(unsafe.SliceData(b))) - uintptr(unsafe.Pointer(unsafe.SliceData(m.Data))))
}
