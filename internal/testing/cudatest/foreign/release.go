//go:build linux && cgo

// Package foreign is for tests: it does to memory what C code of others does.
package foreign

/*
#include "../../../cuda/calls.h"
*/
import "C"

import "github.com/dsconv/dsconv/internal/cuda"

// Release gives a block back as the deleters of tensors do, which are C code: for use after all work that stream,
// a CUstream, has by now. It does not wait.
func Release(b *cuda.Block, stream uintptr) {
	C.dsconv_cuda_block_release_after((*C.dsconv_cuda_block)(b.C()), C.uintptr_t(stream))
}
