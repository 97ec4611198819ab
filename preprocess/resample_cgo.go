//go:build cgo

package preprocess

/*
#include "resample_kernel.h"
*/
import "C"

import "unsafe"

const _ = uint(slack - C.DSCONV_SLACK) // must not be negative

// passes8 are goPasses8 in C, one call a pass, with AVX2 where the processor has it.
var passes8 = cPasses8(true)

// cPasses8 leaves AVX2 alone where simd is false.
func cPasses8(simd bool) passes {
	var wide C.int
	if simd {
		wide = 1
	}
	return passes{
		func(dst, src view, c *coefficients, pad []byte) {
			C.dsconv_scale_rows(bytesOf(dst.pix), C.size_t(dst.stride), C.int(dst.w), C.int(dst.h),
				bytesOf(src.pix), C.size_t(len(src.pix)), C.size_t(src.stride), C.int(src.w), C.int(src.size),
				C.int(c.taps), starts(c), weights(c.low), weights(c.high), bytesOf(pad), wide)
		},
		func(dst, src view, c *coefficients, top int) {
			C.dsconv_sum_rows(bytesOf(dst.pix), C.size_t(dst.stride), C.size_t(dst.w*dst.size), C.int(dst.h),
				bytesOf(src.pix), C.size_t(src.stride), C.int(top), C.int(c.in),
				C.int(c.taps), starts(c), weights(c.low), weights(c.high), wide)
		},
	}
}

func bytesOf(b []byte) *C.uint8_t { return (*C.uint8_t)(unsafe.SliceData(b)) }

func starts(c *coefficients) *C.int32_t { return (*C.int32_t)(unsafe.SliceData(c.start)) }

func weights(w []int16) *C.int16_t { return (*C.int16_t)(unsafe.SliceData(w)) }
