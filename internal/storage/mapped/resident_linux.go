package mapped

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Resident reports whether the page of that byte is in memory; false if the system does not
// reveal it.
func (m *Mapping) Resident(off int64) bool {
	if !m.ResidencyKnown {
		return false
	}
	var in byte
	page := unsafe.Pointer(&m.Data[PageOf(off)])
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(page), uintptr(PageSize), uintptr(unsafe.Pointer(&in)))
	return errno == 0 && in&1 != 0
}

// canReadResidency reports whether the system reveals to this process which pages of a file are
// in memory. For files that it neither owns nor may write, Linux claims that all are.
func canReadResidency(path string, st os.FileInfo) bool {
	s, ok := st.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid() || unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS) == nil
}
