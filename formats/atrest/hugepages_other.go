//go:build !linux

package atrest

// HugePages does nothing here.
func AdviseHugePages[T any]([]T) {}
