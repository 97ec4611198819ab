//go:build cgo

package main

/*
#include "device.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"unsafe"
)

// dsconv_device takes the memory of the images out of the current batch of a run and makes it a tensor, which is the
// caller's. stream is the CUDA stream that the caller reads it on until it calls the tensor's deleter: 0 is the
// default stream. The tensor is 1-dimensional: image i of the first view begins at element i times its size, those of
// other views at their "offset" in bytes. It returns NULL, or an error as dsconv_call does; there is one if the memory
// was taken before.
//
//export dsconv_device
func dsconv_device(handle C.int64_t, stream C.uint64_t, out *C.dsconv_device_t) *C.char {
	return succeeded(func() error {
		if out == nil {
			return fmt.Errorf("%w: the pointer for the tensor is NULL", errValue)
		}
		r, err := lookup[*running](int64(handle))
		if err != nil {
			return err
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.batch == nil || r.batch.Device() == nil {
			return fmt.Errorf("%w: the batch has no images on a device, or they were taken", errValue)
		}
		elements := int64(r.loader.MemorySize() / r.batch.DType.Size())
		tensor := r.batch.Device().DLPack(uintptr(stream))
		if tensor == 0 {
			return errors.New("no memory for a tensor's description")
		}
		_ = r.batch.TakeDevice() // it is the tensor's
		out.tensor, out.elements = *(*unsafe.Pointer)(unsafe.Pointer(&tensor)), C.int64_t(elements)
		return nil
	})
}
