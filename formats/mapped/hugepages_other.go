//go:build !linux

package mapped

// HugePages does nothing here.
func HugePages[T any]([]T) {}
