//go:build cgo

package resample

/*
#cgo CFLAGS: -O3 -Wall
#include "level.h"
#include "kernel.h"
#include "affine_kernel.h"
*/
import "C"

import (
	"unsafe"

	"github.com/dsconv/dsconv/internal/image/buffer"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// The instruction sets that there are kernels for. The kernels use the highest that the processor
// has.
const (
	LevelPortable = C.DSCONV_PORTABLE
	LevelAVX2     = C.DSCONV_AVX2
	LevelAVX512   = C.DSCONV_AVX512
)

// kernelRequest is the argument of the kernels. It has no pointers.
type kernelRequest = C.dsconv_resampling

// available is nil where the kernels are.
var available error

var resample8 = resampleC(LevelAVX512)

// resampleC carries out resamplings in C, one call an image.
func resampleC(level int) resampler8 {
	return func(r *Resampler, j *resampling) {
		spec := j.target.Spec
		src, region := j.src, j.target.Region
		if r.call == nil {
			r.call = new(kernelRequest)
		}
		q := r.call
		*q = kernelRequest{
			channels: C.int32_t(src.Size), out_w: C.int32_t(region.W), out_h: C.int32_t(region.H),
			_type: C.int32_t(spec.typeIndex()), planar: cInt32(spec.layout == pixel.NCHW), flip: cInt32(j.target.Flip), flip_v: cInt32(j.target.FlipV),
			arithmetic: cInt32(spec.arithmetic), level: C.int32_t(level), vertical_first: cInt32(j.verticalFirst),
		}
		var hor, ver axisPointers
		if j.hor != nil {
			hor, q.hor_taps = pointers(j.hor, region.X), C.int32_t(j.hor.taps)
		} else {
			src = src.Crop(pixel.Rect{X: region.X, W: region.W, H: src.H})
		}
		if j.ver != nil {
			ver, q.ver_taps = pointers(j.ver, region.Y), C.int32_t(j.ver.taps)
		} else {
			src = src.Crop(pixel.Rect{Y: region.Y, W: src.W, H: region.H})
		}
		q.in_w, q.in_h = C.int32_t(src.W), C.int32_t(src.H)
		q.src_len, q.src_stride = C.size_t(len(src.Pix)), C.size_t(src.Stride)
		r.scratch = buffer.Grow(r.scratch, int(C.dsconv_scratch(q)))
		C.dsconv_resample(q, j.target.memory(), bytePointer(src.Pix), hor.start, hor.weights, ver.start, ver.weights,
			(*C.dsconv_values)(unsafe.Pointer(spec.values)), bytePointer(r.scratch))
	}
}

// axisPointers are the coefficients from an output pixel on.
type axisPointers struct{ start, weights *C.int32_t }

func pointers(c *coefficients, from int) axisPointers {
	from -= c.first
	return axisPointers{int32Pointer(c.start[from:]), int32Pointer(c.weights[from*c.taps:])}
}

// arithmeticIsExact reports whether the kernels' arithmetic gives exactly the values in the table, for
// a type of elements.
func arithmeticIsExact(v *elementValues, channels, typeIndex int) bool {
	return C.dsconv_arithmetic_is_exact((*C.dsconv_values)(unsafe.Pointer(v)), C.int(channels), C.int(typeIndex), LevelAVX512) != 0
}

// elementValues has the layout of the C struct.
const (
	_ = uint(unsafe.Sizeof(elementValues{}) - C.sizeof_dsconv_values)
	_ = uint(C.sizeof_dsconv_values - unsafe.Sizeof(elementValues{}))
)

func bytePointer(b []byte) *C.uint8_t { return (*C.uint8_t)(unsafe.SliceData(b)) }

func int32Pointer(v []int32) *C.int32_t { return (*C.int32_t)(unsafe.SliceData(v)) }

func cInt32(b bool) C.int32_t {
	if b {
		return 1
	}
	return 0
}

var warp = warpC(LevelAVX512)

// warpC carries out warpings in C, one call an image.
func warpC(level int) warper {
	return func(r *Resampler, w *warping) {
		if r.warpCall == nil {
			r.warpCall = new(warpRequest)
		}
		q := r.warpCall
		*q = warpRequest{
			src_stride: C.size_t(w.src.Stride), image_w: C.int32_t(w.imageW), image_h: C.int32_t(w.imageH),
			left: C.int32_t(w.left), top: C.int32_t(w.top), src_w: C.int32_t(w.src.W), src_h: C.int32_t(w.src.H),
			x: C.int32_t(w.x), y: C.int32_t(w.y), w: C.int32_t(w.dst.W), h: C.int32_t(w.dst.H),
			pixel: C.int32_t(w.src.Size), deep: cInt32(w.deep), way: C.int32_t(w.way), level: C.int32_t(level),
		}
		for i, v := range w.matrix {
			q.matrix[i] = C.double(v)
		}
		for i := range 2 {
			q.start[i], q.right[i], q.down[i] = C.int32_t(w.start[i]), C.int32_t(w.right[i]), C.int32_t(w.down[i])
		}
		if w.way == scaled {
			r.columns = w.columns(r.columns)
		}
		C.dsconv_warp(q, bytePointer(w.dst.Pix), bytePointer(w.src.Pix), int32Pointer(r.columns))
	}
}

// warpRequest is the argument of the kernels. It has no pointers.
type warpRequest = C.dsconv_warping
