//go:build linux && cgo

package gpudecode

import (
	"unsafe"

	"github.com/dsconv/dsconv/internal/cuda"
)

type address = cuda.Address

// elements is b as n elements.
func elements[T any](b []byte, n int) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}
