//go:build cgo

package resample

/*
#cgo CFLAGS: -O3 -Wall
#include "kernel.h"
*/
import "C"

import (
	"unsafe"

	"github.com/dsconv/dsconv/preprocess/cpu"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// kernelCall is what a call of the kernels gets; it has no pointers.
type kernelCall = C.dsconv_resampling

// goKernels is 1 where passes keep what is between them as an image.
const goKernels = 0

var resample8 = resampleC(cpu.LevelAVX512)

// resampleC is resampleGo in C, one call an image.
func resampleC(level int) resampler8 {
	return func(r *Resampler, j *resampling) {
		store := j.target.Store
		src, part := j.src, j.target.Part
		if r.call == nil {
			r.call = new(kernelCall)
		}
		q := r.call
		*q = kernelCall{
			channels: C.int32_t(src.Size), out_w: C.int32_t(part.W), out_h: C.int32_t(part.H),
			_type: C.int32_t(store.kind()), planar: flag(store.layout == NCHW), flip: flag(j.target.Flip), flip_v: flag(j.target.FlipV),
			by_calc: flag(store.calculates), level: C.int32_t(level), vertical_first: flag(j.verticalFirst),
		}
		var hor, ver axisPointers
		if j.hor != nil {
			hor, q.hor_taps = pointers(j.hor, part.X), C.int32_t(j.hor.taps)
		} else {
			src = src.Crop(pixel.Rect{X: part.X, W: part.W, H: src.H})
		}
		if j.ver != nil {
			ver, q.ver_taps = pointers(j.ver, part.Y), C.int32_t(j.ver.taps)
		} else {
			src = src.Crop(pixel.Rect{Y: part.Y, W: src.W, H: part.H})
		}
		q.in_w, q.in_h = C.int32_t(src.W), C.int32_t(src.H)
		q.src_len, q.src_stride = C.size_t(len(src.Pix)), C.size_t(src.Stride)
		r.scratch = pixel.Grow(r.scratch, int(C.dsconv_scratch(q)))
		C.dsconv_resample(q, j.target.memory(), bytesOf(src.Pix), hor.start, hor.weights, ver.start, ver.weights,
			(*C.dsconv_values)(unsafe.Pointer(store.values)), bytesOf(r.scratch))
	}
}

// axisPointers are coefficients from an output pixel on.
type axisPointers struct{ start, weights *C.int32_t }

func pointers(c *coefficients, from int) axisPointers {
	from -= c.first
	return axisPointers{wordsOf(c.start[from:]), wordsOf(c.weights[from*c.taps:])}
}

// calculates says whether the kernels' arithmetic gives just the values, for the kind of
// elements.
func calculates(v *storedValues, channels, kind int) bool {
	return C.dsconv_calculates((*C.dsconv_values)(unsafe.Pointer(v)), C.int(channels), C.int(kind), cpu.LevelAVX512) != 0
}

// The C struct is the same memory.
const (
	_ = uint(unsafe.Sizeof(storedValues{}) - C.sizeof_dsconv_values)
	_ = uint(C.sizeof_dsconv_values - unsafe.Sizeof(storedValues{}))
)

func bytesOf(b []byte) *C.uint8_t { return (*C.uint8_t)(unsafe.SliceData(b)) }

func wordsOf(w []int32) *C.int32_t { return (*C.int32_t)(unsafe.SliceData(w)) }

func flag(b bool) C.int32_t {
	if b {
		return 1
	}
	return 0
}
