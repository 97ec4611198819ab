//go:build !linux

package atrest

// hugePages does nothing here.
func hugePages[T any]([]T) {}
