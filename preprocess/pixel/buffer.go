package pixel

import "unsafe"

// Grow gives n elements of unspecified content, those of s where it has them.
func Grow[T any](s []T, n int) []T {
	if cap(s) < n {
		s = make([]T, n)
	}
	return s[:n]
}

// KeptBuffer is the largest buffer that is kept after a large image.
const KeptBuffer = 4 << 20

// Shrink drops m's memory if it is large.
func (m *Image) Shrink() { m.Pix = Shrunk(m.Pix) }

// Shrunk is s, or nil if s is a large buffer.
func Shrunk[T any](s []T) []T {
	var element T
	if cap(s)*int(unsafe.Sizeof(element)) > KeptBuffer {
		return nil
	}
	return s
}
