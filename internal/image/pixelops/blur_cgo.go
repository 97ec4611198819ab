//go:build cgo

package pixelops

/*
#include "blur_kernel.h"
*/
import "C"

import (
	"unsafe"

	"github.com/dsconv/dsconv/internal/image/buffer"
	"github.com/dsconv/dsconv/internal/image/resample"
)

var (
	blur8    = blurC(resample.LevelAVX512)
	sharpen8 = sharpenC(resample.LevelAVX512)
)

// blurC is blurGo in C, one call an image.
func blurC(level C.int32_t) func(*Enhancer, *blurring) {
	return func(e *Enhancer, b *blurring) {
		q := b.call(level)
		e.row = buffer.Grow(e.row, int(C.dsconv_blur_scratch(&q)))
		C.dsconv_blur(&q, pixelPointer(b.dst.Pix), pixelPointer(b.src.Pix), floatPointer(b.weightsX), floatPointer(b.weightsY), floatPointer(e.row))
	}
}

// sharpenC is sharpenGo in C, one call an image.
func sharpenC(level C.int32_t) func(*Enhancer, *blurring) {
	return func(_ *Enhancer, b *blurring) {
		q := b.call(level)
		C.dsconv_sharpen(&q, pixelPointer(b.dst.Pix), pixelPointer(b.src.Pix), C.float(b.factor))
	}
}

func (b *blurring) call(level C.int32_t) C.dsconv_blurring {
	return C.dsconv_blurring{
		stride: C.size_t(b.src.Stride), w: C.int32_t(b.src.W), h: C.int32_t(b.src.H), channels: C.int32_t(b.src.Size),
		reach_x: C.int32_t(len(b.weightsX) - 1), reach_y: C.int32_t(len(b.weightsY) - 1), level: level,
	}
}

func floatPointer(f []float32) *C.float { return (*C.float)(unsafe.SliceData(f)) }
