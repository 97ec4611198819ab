package pixel

import "unsafe"

// Grow returns n elements of unspecified content, in s's memory if it is large enough.
func Grow[T any](s []T, n int) []T {
	if cap(s) < n {
		s = make([]T, n)
	}
	return s[:n]
}

// MaxKeptBuffer is the largest buffer that is kept after a large image.
const MaxKeptBuffer = 4 << 20

// Shrink frees m's memory if it is large.
func (m *Image) Shrink() { m.Pix = DropLarge(m.Pix) }

// DropLarge returns s, or nil if s is a large buffer.
func DropLarge[T any](s []T) []T {
	var element T
	if cap(s)*int(unsafe.Sizeof(element)) > MaxKeptBuffer {
		return nil
	}
	return s
}
