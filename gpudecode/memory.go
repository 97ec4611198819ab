//go:build linux && cgo

package gpudecode

/*
#cgo CFLAGS: -O2 -Wall
#include "dlpack.h"
*/
import "C"

import (
	"errors"
	"sync/atomic"
	"unsafe"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/cuda"
)

// Memory is memory of the GPU, for the results of a batch. Release it once, or hand it over by DLPack: after either its
// other methods must not be called. It may be released on any goroutine, also after its Decoder and the GPU were closed.
type Memory struct {
	block   *cuda.Block
	decoder *Decoder
	stream  uintptr
	gone    atomic.Bool // released or handed over
}

// Memory returns memory of Config.Bytes bytes, which was released or is new. Work that the Decoder does there waits for
// that of whoever had it before.
func (d *Decoder) Memory() (*Memory, error) {
	if d.stream == nil {
		return nil, errClosed
	}
	block, err := d.pool.Take(d.results.Handle())
	if err != nil {
		return nil, err
	}
	return &Memory{block: block, decoder: d, stream: d.results.Handle()}, nil
}

// Pointer is the address in the GPU's memory. After Decode the work there is done.
func (m *Memory) Pointer() uintptr { return uintptr(m.block.Address()) }

// Stream is the CUDA stream on which the memory is written.
func (m *Memory) Stream() uintptr { return m.stream }

// Release gives the memory back to its Decoder. Work that reads it must be done. A second call, or one after DLPack,
// does nothing.
func (m *Memory) Release() {
	if m != nil && !m.gone.Swap(true) {
		m.block.Release()
	}
}

// DLPack hands the memory over as a DLManagedTensor (DLPack 0.8) and returns its address. Its deleter, which may be
// called on any thread at any time, gives the memory back for use after all work that the CUDA stream consumer has by
// then. shape is in elements of the Spec's type, from byte offset on; strides are in elements too, nil for row-major.
// It returns 0 if the tensor would not lie inside the memory, if the memory was released, or without host memory; then
// the Memory is still the caller's.
func (m *Memory) DLPack(shape, strides []int64, offset int, consumer uintptr) uintptr {
	if strides == nil {
		strides = rowMajor(shape)
	}
	spec := m.decoder.config.Spec
	size := spec.DType().Size()
	if !inside(shape, strides, offset, size, m.decoder.config.Bytes) || m.gone.Swap(true) {
		return 0
	}
	t := C.dsconv_dlpack_type{code: typeCode(spec.DType()), bits: C.uint8_t(8 * size), lanes: 1}
	p := C.dsconv_dlpack_new((*C.dsconv_cuda_block)(m.block.C()), C.uint64_t(offset), C.int(m.decoder.gpu.number), t,
		C.int(len(shape)), (*C.int64_t)(unsafe.SliceData(shape)), (*C.int64_t)(unsafe.SliceData(strides)), C.uintptr_t(consumer))
	if p == nil {
		m.gone.Store(false)
	}
	return uintptr(unsafe.Pointer(p))
}

// typeCode is DLPack's DLDataTypeCode.
func typeCode(d formats.DType) C.uint8_t {
	switch d {
	case formats.Float32, formats.Float16:
		return 2
	case formats.BFloat16:
		return 4
	}
	return 1
}

func rowMajor(shape []int64) []int64 {
	strides, n := make([]int64, len(shape)), int64(1)
	for i := len(shape) - 1; i >= 0; i-- {
		strides[i] = n
		n *= shape[i]
	}
	return strides
}

// inside reports whether a tensor of elements of size bytes lies inside total bytes.
func inside(shape, strides []int64, offset, size, total int) bool {
	if len(shape) == 0 || len(strides) != len(shape) || offset < 0 || offset%size != 0 {
		return false
	}
	last, most := int64(0), int64(total) // of the last element
	for i, n := range shape {
		if n <= 0 || strides[i] < 0 || n > most || strides[i] > most {
			return false
		}
		last += (n - 1) * strides[i]
		if last > most {
			return false
		}
	}
	return int64(offset) <= most && (last+1)*int64(size) <= most-int64(offset)
}

// errNoMemory is returned for a Memory that Decode cannot use.
var errNoMemory = errors.New("gpudecode.Decode: out is nil, released or of another Decoder: take it from Decoder.Memory")

// checkMemory returns an error if out is not memory of d.
func (d *Decoder) checkMemory(out *Memory) error {
	if out == nil || out.decoder != d || out.gone.Load() {
		return errNoMemory
	}
	return nil
}
