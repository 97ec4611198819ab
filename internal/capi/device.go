//go:build cgo

package main

/*
#include "device.h"
*/
import "C"

import "fmt"

// dsconv_device takes the memory of the images out of the current batch of a run and makes it a tensor, which is the
// caller's. stream is the CUDA stream that the caller reads it on: 0 is the default stream. The tensor is
// 1-dimensional: image i of the first view begins at element i times its size, other views at their "offset" in
// bytes. It returns NULL, or an error as dsconv_call does; there is one if the memory was taken before.
//
//export dsconv_device
func dsconv_device(handle C.int64_t, stream C.uint64_t, out *C.dsconv_device_t) *C.char {
	return succeeded(func() error { return fmt.Errorf("%w: the images are not on a device", errValue) })
}
