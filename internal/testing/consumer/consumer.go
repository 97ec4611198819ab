//go:build linux && cgo

// Package consumer takes tensors by DLPack as another library does, for tests: it frees them in C, on a thread of its
// own.
package consumer

/*
#cgo LDFLAGS: -lpthread
#include <pthread.h>
#include "../../../gpudecode/dlpack.h"

static void *delete(void *tensor) {
  dsconv_dlpack_managed *m = tensor;
  m->deleter(m);
  return NULL;
}

// delete_elsewhere calls the deleter on a thread that has never seen CUDA.
static int delete_elsewhere(uintptr_t tensor) {
  pthread_t thread;
  int failed = pthread_create(&thread, NULL, delete, (void *)tensor);
  return failed ? failed : pthread_join(thread, NULL);
}

static dsconv_dlpack_tensor tensor_of(uintptr_t tensor) { return ((dsconv_dlpack_managed *)tensor)->tensor; }
*/
import "C"

import "unsafe"

// Tensor is what a DLManagedTensor says of its memory.
type Tensor struct {
	Data           uint64
	DeviceType     int
	Code, Bits     int
	Shape, Strides []int64
}

// Describe reads a DLManagedTensor.
func Describe(tensor uintptr) Tensor {
	t := C.tensor_of(C.uintptr_t(tensor))
	numbers := func(p *C.int64_t) (list []int64) {
		for _, n := range unsafe.Slice(p, t.ndim) {
			list = append(list, int64(n))
		}
		return list
	}
	return Tensor{
		Data: uint64(uintptr(t.data)) + uint64(t.byte_offset), DeviceType: int(t.device.device_type),
		Code: int(t.dtype.code), Bits: int(t.dtype.bits), Shape: numbers(t.shape), Strides: numbers(t.strides),
	}
}

// Delete calls the tensor's deleter on another thread and waits for that.
func Delete(tensor uintptr) bool { return C.delete_elsewhere(C.uintptr_t(tensor)) == 0 }
