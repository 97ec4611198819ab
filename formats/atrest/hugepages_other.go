//go:build !linux

package atrest

// HugePages does nothing here.
func HugePages[T any]([]T) {}
