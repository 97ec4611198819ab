package preprocess

import "unsafe"

// grow gives n elements of unspecified content, those of s where it has them.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		s = make([]T, n)
	}
	return s[:n]
}

// keptBuffer is the largest buffer that is kept after a large image.
const keptBuffer = 4 << 20

// Shrink drops m's memory if it is large.
func (m *Image) Shrink() { m.Pix = shrunk(m.Pix) }

// shrunk is s, or nil if s is a large buffer.
func shrunk[T any](s []T) []T {
	var element T
	if cap(s)*int(unsafe.Sizeof(element)) > keptBuffer {
		return nil
	}
	return s
}
