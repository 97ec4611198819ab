//go:build cgo

package pixelops

/*
#include "blend.h"
*/
import "C"

import (
	"unsafe"

	"github.com/dsconv/dsconv/formats"
)

var blendTypes = map[formats.DType]C.int{
	formats.Float32: C.DSCONV_BLEND_FLOAT32, formats.Float16: C.DSCONV_BLEND_FLOAT16, formats.BFloat16: C.DSCONV_BLEND_BFLOAT16,
}

// blendFast blends the first elements with SIMD and returns their number.
func blendFast[T float32 | uint16](d formats.DType, dst, other []T, weight, otherWeight float32) int {
	to, from := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(other))
	return int(C.dsconv_blend(blendTypes[d], to, from, C.size_t(len(dst)), C.float(weight), C.float(otherWeight)))
}
