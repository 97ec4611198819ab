//go:build linux && cgo

package fakegpu

/*
#include <stdint.h>

// DLPack 0.8's ABI, written once more for tests.
typedef struct fake_tensor {
  void *data;
  int32_t device_type, device_id, ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
  void *context;
  void (*deleter)(struct fake_tensor *);
} fake_tensor;

static void delete_tensor(void *t) { ((fake_tensor *)t)->deleter(t); }
*/
import "C"

import (
	"slices"
	"unsafe"
)

// Tensor is what a DLManagedTensor says.
type Tensor struct {
	Address      uintptr // of the first element
	Type, Number int     // of the device; type 2 is CUDA
	Code, Bits   int     // of the elements
	Shape        []int64
	Strides      []int64
}

// ReadTensor reads a DLManagedTensor.
func ReadTensor(managed unsafe.Pointer) Tensor {
	t := (*C.fake_tensor)(managed)
	numbers := func(p *C.int64_t) []int64 { return slices.Clone(unsafe.Slice((*int64)(p), int(t.ndim))) }
	return Tensor{
		Address: uintptr(t.data) + uintptr(t.byte_offset), Type: int(t.device_type), Number: int(t.device_id),
		Code: int(t.code), Bits: int(t.bits), Shape: numbers(t.shape), Strides: numbers(t.strides),
	}
}

// DeleteTensor calls the deleter of a DLManagedTensor, as its consumer does.
func DeleteTensor(managed unsafe.Pointer) { C.delete_tensor(managed) }
