//go:build cgo

package preprocess

/*
#include "resample_kernel.h"
*/
import "C"

import "unsafe"

// resize8 is resize8Go in C, in one call, with AVX2 where the processor has it.
func (r *Resampler) resize8(dst, src *Image, crop Rect, hor, ver *coefficients) {
	r.resize8C(dst, src, crop, hor, ver, true)
}

func (r *Resampler) resize8C(dst, src *Image, crop Rect, hor, ver *coefficients, simd bool) {
	top, bottom := 0, crop.H
	if ver != nil {
		top, bottom = ver.span(dst.H)
	}
	step := src.stride()
	in := src.Pix[crop.Y*step+crop.X*src.C:]
	tmp := r.scratch((bottom - top) * (dst.stride() + C.DSCONV_SLACK))
	if n := 2 * (crop.W*src.C + C.DSCONV_SLACK); cap(r.pad) < n {
		r.pad = make([]byte, n)
	}
	wide := 0
	if simd {
		wide = 1
	}
	h, v := cAxis(hor), cAxis(ver)
	C.dsconv_resample8(bytesOf(dst.Pix), bytesOf(in), C.size_t(len(in)), C.size_t(step),
		C.int(src.C), C.int(crop.W), C.int(top), C.int(bottom), C.int(dst.W), C.int(dst.H),
		h.taps, h.start, h.low, h.high, v.taps, v.start, v.low, v.high,
		bytesOf(tmp), bytesOf(r.pad[:cap(r.pad)]), C.int(wide))
}

// axisArgs are a direction's arguments; taps == 0 stands for none.
type axisArgs struct {
	taps      C.int
	start     *C.int32_t
	low, high *C.int16_t
}

func cAxis(c *coefficients) axisArgs {
	if c == nil {
		return axisArgs{}
	}
	return axisArgs{
		C.int(c.taps), (*C.int32_t)(unsafe.SliceData(c.start)),
		(*C.int16_t)(unsafe.SliceData(c.low)), (*C.int16_t)(unsafe.SliceData(c.high)),
	}
}

func bytesOf(b []byte) *C.uint8_t { return (*C.uint8_t)(unsafe.SliceData(b)) }
