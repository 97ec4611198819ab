//go:build !linux

package mapped

// AdviseHugePages does nothing on this system.
func AdviseHugePages[T any]([]T) {}
