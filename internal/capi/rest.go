//go:build cgo

package main

/*
#include "device.h"
#include "rest.h"
*/
import "C"

import "fmt"

// dsconv_tables returns the number of values in the tables of a loader's view: 256 for each channel, 0 if it has
// none, -1 if there is no such view. It copies them to dst if room, the numbers that dst has space for, is enough:
// the bits of an element of the images' final type, in the low bits.
//
//export dsconv_tables
func dsconv_tables(handle C.int64_t, view C.int32_t, dst *C.uint32_t, room C.int64_t) C.int64_t {
	return counted(func() (int, error) { return 0, fmt.Errorf("%w: there are no tables", errValue) })
}

// dsconv_rest describes what is left to do on a view of the current batch of a run, and copies the flips, a byte for
// each image, to flips if room, the bytes that flips has space for, is enough. It returns NULL, or an error as
// dsconv_call does.
//
//export dsconv_rest
func dsconv_rest(handle C.int64_t, view C.int32_t, flips *C.uint8_t, room C.int64_t, out *C.dsconv_rest_t) *C.char {
	return succeeded(func() error { return fmt.Errorf("%w: nothing is left to do", errValue) })
}

// dsconv_erasures copies the erasures of a view of the current batch of a run, and their values, to memory that has
// space for so many. It returns the number of erasures; -1 if there is no such view, or not enough space.
//
//export dsconv_erasures
func dsconv_erasures(
	handle C.int64_t, view C.int32_t, erasures *C.dsconv_erasure_t, n C.int64_t, values *C.float, m C.int64_t,
) C.int64_t {
	return counted(func() (int, error) { return 0, fmt.Errorf("%w: nothing is left to do", errValue) })
}

// dsconv_device takes the memory of the images out of the current batch of a run and makes it a tensor, which is the
// caller's. stream is the CUDA stream that the caller reads it on: 0 is the default stream. The tensor is
// 1-dimensional: image i of the first view begins at element i times its size, other views at their "offset" in
// bytes. It returns NULL, or an error as dsconv_call does; there is one if the memory was taken before.
//
//export dsconv_device
func dsconv_device(handle C.int64_t, stream C.uint64_t, out *C.dsconv_device_t) *C.char {
	return succeeded(func() error { return fmt.Errorf("%w: the images are not on a device", errValue) })
}
