//go:build !linux || !cgo

package guard

import "sync/atomic"

// Without a handler every fault is a panic, which Do catches, and no page is ever replaced.
var events, replaced atomic.Uint64

// Renew does nothing here.
func Renew() {}

// Failed reports whether b, part of memory from Map for writing, was ever unusable.
func Failed([]byte) bool { return false }

func watch(*region, int) (int, error) { return 0, nil }

func unwatch(*region) {}

func (r *region) faulted(Mark, int, int) (first, last int, hit bool) { return 0, 0, false }

func (r *region) restore(int, int) {}

// Forget does nothing here.
func Forget([]byte) {}
