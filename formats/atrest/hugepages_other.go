//go:build !linux

package atrest

// AdviseHugePages does nothing on this system.
func AdviseHugePages[T any]([]T) {}
