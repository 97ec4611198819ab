package mapped

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// adviceLength is the number of bytes per madvise call: Linux ignores what exceeds its
// read-ahead window, 128 KiB by default.
const adviceLength = 128 << 10

// PageSize is the size of a page of memory in bytes.
var PageSize = int64(os.Getpagesize())

// PageOf returns the offset at which the page of byte off begins.
func PageOf(off int64) int64 { return off &^ (PageSize - 1) }

// WillNeed tells the system that the bytes from from, the beginning of a page, up to to will be
// used soon. It ignores errors, since a read of the bytes reports them with their cause.
func (m *Mapping) WillNeed(from, to int64) {
	for ; from < to; from += adviceLength {
		_ = unix.Madvise(m.Data[from:min(from+adviceLength, to)], unix.MADV_WILLNEED)
	}
}

// Offset returns the offset in the file of b, a slice of Data.
func (m *Mapping) Offset(b []byte) int64 {
	return int64(uintptr(unsafe.Pointer(unsafe.SliceData(b))) - uintptr(unsafe.Pointer(unsafe.SliceData(m.Data))))
}
