package atrest

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// resident says whether the page of that byte is in memory, false where the system does not
// tell.
func (m *Mapping) resident(off int64) bool {
	if !m.residencyKnown {
		return false
	}
	var in byte
	page := unsafe.Pointer(&m.Data[pageOf(off)])
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(page), uintptr(pageSize), uintptr(unsafe.Pointer(&in)))
	return errno == 0 && in&1 != 0
}

// tellsResidency says whether the system tells this process which pages of a file are in
// memory: of files that are neither its own nor for it to write Linux says that all are.
func canReadResidency(path string, st os.FileInfo) bool {
	s, ok := st.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid() || unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS) == nil
}
