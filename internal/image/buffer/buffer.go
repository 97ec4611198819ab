// Package buffer has slices that are used again from image to image.
package buffer

import "unsafe"

// Grow returns n elements of unspecified content, in s's memory if it is large enough.
func Grow[T any](s []T, n int) []T {
	if cap(s) < n {
		s = make([]T, n)
	}
	return s[:n]
}

// MaxKept is the size of the largest buffer that is kept after a large image.
const MaxKept = 4 << 20

// DropLarge returns s, or nil if s is a large buffer.
func DropLarge[T any](s []T) []T {
	var element T
	if cap(s)*int(unsafe.Sizeof(element)) > MaxKept {
		return nil
	}
	return s
}

// Overlap reports whether a, up to its capacity, and b share memory.
func Overlap(a, b []byte) bool {
	if cap(a) == 0 || len(b) == 0 {
		return false
	}
	at, from := uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return at < from+uintptr(len(b)) && from < at+uintptr(cap(a))
}
