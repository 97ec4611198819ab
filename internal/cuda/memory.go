//go:build linux && cgo

package cuda

/*
#include "calls.h"
*/
import "C"

import (
	"errors"
	"unsafe"
)

// Address is an address in the GPU's memory.
type Address uint64

// errSize is returned for sizes below 1 byte, of which CUDA's own error would not tell what is wrong.
var errSize = errors.New("CUDA: memory of less than 1 byte was asked for")

// Alloc allocates bytes of the GPU's memory. Free them.
func (d *Device) Alloc(size int) (Address, error) {
	if size < 1 {
		return 0, errSize
	}
	var address C.CUdeviceptr
	err := d.driver.check(C.dsconv_cuda_alloc(d.c, C.size_t(size), &address), "allocate %d bytes of the GPU's memory", size)
	return Address(address), err
}

// Free frees memory that Alloc returned. Work that uses it must be done.
func (d *Device) Free(a Address) error {
	return d.driver.check(C.dsconv_cuda_free(d.c, C.CUdeviceptr(a)), "free the GPU's memory")
}

// Pinned is memory of the host that the GPU reaches by itself: copies to and from it do not wait.
type Pinned struct {
	device *Device
	bytes  []byte
}

// AllocPinned allocates pinned memory. Free it.
func (d *Device) AllocPinned(size int) (*Pinned, error) {
	if size < 1 {
		return nil, errSize
	}
	var address unsafe.Pointer
	//nolint:gocritic // what cgo generates for &address looks like comparing a value with itself
	if err := d.driver.check(C.dsconv_cuda_alloc_pinned(d.c, C.size_t(size), &address), "allocate %d bytes of pinned memory", size); err != nil {
		return nil, err
	}
	return &Pinned{device: d, bytes: unsafe.Slice((*byte)(address), size)}, nil
}

// Bytes is the memory, until Free.
func (p *Pinned) Bytes() []byte { return p.bytes }

// Free frees the memory. Copies to and from it must be done.
func (p *Pinned) Free() error {
	return p.device.driver.check(C.dsconv_cuda_free_pinned(p.device.c, unsafe.Pointer(unsafe.SliceData(p.bytes))), "free pinned memory")
}

// ToDevice copies from the host. from must stay as it is until the stream has done the copy: of memory that is not
// pinned the driver mostly takes its own copy first, but does not promise that.
func (s *Stream) ToDevice(to Address, from []byte) error {
	return s.device.driver.check(C.dsconv_cuda_to_device(s.device.c, C.CUdeviceptr(to), unsafe.Pointer(unsafe.SliceData(from)), C.size_t(len(from)), s.c),
		"copy %d bytes to the GPU", len(from))
}

// ToHost copies to the host, which has the bytes once the stream has done the copy.
func (s *Stream) ToHost(to []byte, from Address) error {
	return s.device.driver.check(C.dsconv_cuda_to_host(s.device.c, unsafe.Pointer(unsafe.SliceData(to)), C.CUdeviceptr(from), C.size_t(len(to)), s.c),
		"copy %d bytes from the GPU", len(to))
}

// Set32 sets count numbers of 32 bits. to is a multiple of 4.
func (s *Stream) Set32(to Address, value uint32, count int) error {
	return s.device.driver.check(C.dsconv_cuda_set32(s.device.c, C.CUdeviceptr(to), C.uint32_t(value), C.size_t(count), s.c),
		"fill %d bytes of the GPU's memory", 4*count)
}
