//go:build cgo

package resample

/*
#include "affine_kernel.h"
*/
import "C"

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
