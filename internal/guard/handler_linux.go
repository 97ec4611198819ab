//go:build linux && cgo

package guard

/*
#include "handler.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// The handler's counters: of events, each a page replaced or mapped again, and of pages that are
// zeros now.
var (
	events   = (*atomic.Uint64)(unsafe.Pointer(&C.guard_events))
	replaced = (*atomic.Uint64)(unsafe.Pointer(&C.guard_replaced))
)

// Renew makes the handler the first that SIGBUS goes to, if another was installed meanwhile: Python's
// faulthandler prints and ends the process. Call it before mapped memory is used for a
// while.
func Renew() { _ = C.guard_renew() } // an error would have come from Map too

func watch(r *region, prot int) (int, error) {
	if errno := C.guard_renew(); errno != 0 {
		return 0, fmt.Errorf("handle SIGBUS: %w", syscall.Errno(errno))
	}
	slot := C.guard_watch(unsafe.Pointer(unsafe.SliceData(r.data)), C.size_t(len(r.data)), C.int(prot))
	if slot < 0 {
		return 0, errors.New("handle SIGBUS: no memory for another mapping")
	}
	return int(slot), nil
}

func unwatch(r *region) { C.guard_unwatch(C.int(r.slot)) }

// faulted returns the first and the last of the region's pages first to last that were unreadable
// at some time since mark; hit reports whether there are any.
func (r *region) faulted(mark Mark, first, last int) (from, to int, hit bool) {
	var a, b C.size_t
	n := C.guard_faulted(C.int(r.slot), C.uint64_t(mark), C.size_t(first), C.size_t(last), &a, &b)
	return int(a), int(b), n > 0
}

// restore maps replaced pages from the file again.
func (r *region) restore(first, last int) {
	C.guard_restore(C.int(r.slot), C.size_t(first), C.size_t(last))
}

// Forget marks b, part of memory from Map, as no longer used, before it is unmapped. As
// long as pages are replaced, all users of mapped memory must look which ones.
func Forget(b []byte) {
	regions.RLock()
	defer regions.RUnlock()
	if r := regionOf(uintptr(unsafe.Pointer(unsafe.SliceData(b)))); r != nil {
		C.guard_forget(C.int(r.slot))
	}
}

// Failed reports whether b, part of memory from Map, was ever unusable.
func Failed(b []byte) bool {
	if events.Load() == 0 {
		return false
	}
	regions.RLock()
	defer regions.RUnlock()
	r := regionOf(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
	return r != nil && C.guard_failed(C.int(r.slot)) != 0
}
