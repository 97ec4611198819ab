package preprocess

import "unsafe"

// grow returns n elements of unspecified content, in s's memory if it is large enough.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		s = make([]T, n)
	}
	return s[:n]
}

// maxKeptBuffer is the largest buffer that is kept after a large image.
const maxKeptBuffer = 4 << 20

// Shrink frees m's memory if it is large.
func (m *Image) Shrink() { m.Pix = dropLarge(m.Pix) }

// dropLarge returns s, or nil if s is a large buffer.
func dropLarge[T any](s []T) []T {
	var element T
	if cap(s)*int(unsafe.Sizeof(element)) > maxKeptBuffer {
		return nil
	}
	return s
}
