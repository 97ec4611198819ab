//go:build !linux

package monitor

// swapChild is only started on Linux.
func swapChild() {}
