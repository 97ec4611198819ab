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

// DLPack hands the memory over as a DLManagedTensor (DLPack 0.8), a row of elements of the Spec's type, and returns its
// address. Its deleter, which may be called on any thread at any time, gives the memory back for use after all work that
// the CUDA stream consumer has by then. It returns 0 if the memory was released, or without host memory; then the Memory
// is still the caller's.
func (m *Memory) DLPack(consumer uintptr) uintptr {
	if m.gone.Swap(true) {
		return 0
	}
	spec := m.decoder.config.Spec
	size := spec.DType().Size()
	t := C.dsconv_dlpack_type{code: typeCode(spec.DType()), bits: C.uint8_t(8 * size), lanes: 1}
	p := C.dsconv_dlpack_new((*C.dsconv_cuda_block)(m.block.C()), C.int(m.decoder.gpu.number), t,
		C.int64_t(m.decoder.config.Bytes/size), C.uintptr_t(consumer))
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

// errNoMemory is returned for a Memory that Decode cannot use.
var errNoMemory = errors.New("gpudecode.Decode: out is nil, released or of another Decoder: take it from Decoder.Memory")

// checkMemory returns an error if out is not memory of d.
func (d *Decoder) checkMemory(out *Memory) error {
	if out == nil || out.decoder != d || out.gone.Load() {
		return errNoMemory
	}
	return nil
}
