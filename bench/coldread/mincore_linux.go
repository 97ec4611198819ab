package main

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// mincore tells which pages of b, a mapping, are in memory.
func mincore(b, resident []byte) error {
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), uintptr(unsafe.Pointer(&resident[0])))
	if errno != 0 {
		return errno
	}
	return nil
}
