//go:build cgo

package preprocess

/*
#include "resample_kernel.h"
*/
import "C"

import "unsafe"

// The levels of processors that there are kernels for; a higher one is taken where the
// processor has it.
const (
	levelPortable = C.DSCONV_PORTABLE
	levelAVX2     = C.DSCONV_AVX2
	levelAVX512   = C.DSCONV_AVX512
)

// kernelRequest is what a call of the kernels gets; it has no pointers.
type kernelRequest = C.dsconv_resampling

// goKernels is 1 where passes keep what is between them as an image.
const goKernels = 0

var resample8 = resampleC(levelAVX512)

// resampleC is resampleGo in C, one call an image.
func resampleC(level int) resampler8 {
	return func(r *Resampler, j *resampling) {
		spec := j.target.Spec
		src, part := j.src, j.target.Region
		if r.call == nil {
			r.call = new(kernelRequest)
		}
		q := r.call
		*q = kernelRequest{
			channels: C.int32_t(src.size), out_w: C.int32_t(part.W), out_h: C.int32_t(part.H),
			_type: C.int32_t(spec.typeIndex()), planar: cInt32(spec.layout == NCHW), flip: cInt32(j.target.Flip), flip_v: cInt32(j.target.FlipV),
			by_calc: cInt32(spec.arithmetic), level: C.int32_t(level), vertical_first: cInt32(j.verticalFirst),
		}
		var hor, ver axisPointers
		if j.hor != nil {
			hor, q.hor_taps = pointers(j.hor, part.X), C.int32_t(j.hor.taps)
		} else {
			src = src.crop(Rect{X: part.X, W: part.W, H: src.h})
		}
		if j.ver != nil {
			ver, q.ver_taps = pointers(j.ver, part.Y), C.int32_t(j.ver.taps)
		} else {
			src = src.crop(Rect{Y: part.Y, W: src.w, H: part.H})
		}
		q.in_w, q.in_h = C.int32_t(src.w), C.int32_t(src.h)
		q.src_len, q.src_stride = C.size_t(len(src.pix)), C.size_t(src.stride)
		r.scratch = grow(r.scratch, int(C.dsconv_scratch(q)))
		C.dsconv_resample(q, j.target.memory(), bytePointer(src.pix), hor.start, hor.weights, ver.start, ver.weights,
			(*C.dsconv_values)(unsafe.Pointer(spec.values)), bytePointer(r.scratch))
	}
}

// axisPointers are coefficients from an output pixel on.
type axisPointers struct{ start, weights *C.int32_t }

func pointers(c *coefficients, from int) axisPointers {
	from -= c.first
	return axisPointers{int32Pointer(c.start[from:]), int32Pointer(c.weights[from*c.taps:])}
}

// calculates says whether the kernels' arithmetic gives just the values, for the kind of
// elements.
func arithmeticIsExact(v *elementValues, channels, kind int) bool {
	return C.dsconv_calculates((*C.dsconv_values)(unsafe.Pointer(v)), C.int(channels), C.int(kind), levelAVX512) != 0
}

// The C struct is the same memory.
const (
	_ = uint(unsafe.Sizeof(elementValues{}) - C.sizeof_dsconv_values)
	_ = uint(C.sizeof_dsconv_values - unsafe.Sizeof(elementValues{}))
)

func bytePointer(b []byte) *C.uint8_t { return (*C.uint8_t)(unsafe.SliceData(b)) }

func int32Pointer(w []int32) *C.int32_t { return (*C.int32_t)(unsafe.SliceData(w)) }

func cInt32(b bool) C.int32_t {
	if b {
		return 1
	}
	return 0
}
