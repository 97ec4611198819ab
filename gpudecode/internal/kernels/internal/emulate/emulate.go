//go:build cgo

// Package emulate runs the kernels on the CPU, for tests.
package emulate

/*
#cgo CFLAGS: -O2 -Wall -Wextra
#include <stdlib.h>
#include "emulate.h"
#include "../../kernels.h"

static int run(const char *name, const uint32_t *grid, const uint32_t *block, uint32_t shared, uint64_t *arguments) {
  void *params[] = {arguments, arguments + 1, arguments + 2};
  return dsconv_emulate(name, grid, block, shared, params);
}
*/
import "C"

import (
	"fmt"
	"unsafe"

	// Its cubins are of kernels.h: go sees by them that this package must be compiled again.
	_ "github.com/dsconv/dsconv/gpudecode/internal/kernels"
)

// The sizes of the structs that the host uploads.
const (
	JobSize    = C.sizeof_dsconv_store_job
	CanarySize = C.sizeof_dsconv_canary
)

// Memory is C's memory, whose address can be an argument. Free it.
type Memory struct {
	Address uint64
	Bytes   []byte
}

// Allocate returns n bytes of Memory.
func Allocate(n int) Memory {
	p := C.calloc(1, C.size_t(max(n, 1)))
	return Memory{uint64(uintptr(p)), unsafe.Slice((*byte)(p), n)}
}

// Copy returns Memory with a copy of b.
func Copy(b []byte) Memory {
	m := Allocate(len(b))
	copy(m.Bytes, b)
	return m
}

// Free frees the memory.
func (m Memory) Free() { C.free(unsafe.Pointer(unsafe.SliceData(m.Bytes))) }

// Run launches a kernel and waits for it.
func Run(name string, grid, block [3]uint32, shared uint32, arguments [3]uint64) error {
	n := C.CString(name)
	defer C.free(unsafe.Pointer(n))
	rc := C.run(n, (*C.uint32_t)(&grid[0]), (*C.uint32_t)(&block[0]), C.uint32_t(shared), (*C.uint64_t)(&arguments[0]))
	if rc != 0 {
		return fmt.Errorf("launch of %s, grid %d, blocks of %d, %d bytes: error %d", name, grid, block, shared, rc)
	}
	return nil
}
