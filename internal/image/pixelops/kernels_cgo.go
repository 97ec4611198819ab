//go:build cgo

package pixelops

/*
#cgo CFLAGS: -O3 -Wall
#include "kernels.h"
*/
import "C"

import (
	"unsafe"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/buffer"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

var blendTypes = map[formats.DType]C.int{
	formats.Float32: C.DSCONV_BLEND_FLOAT32, formats.Float16: C.DSCONV_BLEND_FLOAT16, formats.BFloat16: C.DSCONV_BLEND_BFLOAT16,
}

// blendFast blends the first elements with SIMD and returns their number.
func blendFast[T float32 | uint16](d formats.DType, dst, other []T, weight, otherWeight float32) int {
	to, from := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(other))
	return int(C.dsconv_blend(blendTypes[d], to, from, C.size_t(len(dst)), C.float(weight), C.float(otherWeight)))
}

// available is nil where the kernels are.
var available error

var (
	blur8    = blurC(resample.LevelAVX512)
	sharpen8 = sharpenC(resample.LevelAVX512)
)

// blurC blurs in C, one call an image.
func blurC(level C.int32_t) func(*Enhancer, *blurring) {
	return func(e *Enhancer, b *blurring) {
		q := b.call(level)
		e.row = buffer.Grow(e.row, int(C.dsconv_blur_scratch(&q)))
		C.dsconv_blur(&q, pixelPointer(b.dst.Pix), pixelPointer(b.src.Pix), floatPointer(b.weightsX), floatPointer(b.weightsY), floatPointer(e.row))
	}
}

// sharpenC sharpens in C, one call an image.
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

// kernelChange is an Enhancement as the C kernels take it.
type kernelChange = C.dsconv_change

var enhanceRGB = enhanceC(resample.LevelAVX512)

// enhanceC changes colours in C, one call an image.
func enhanceC(level C.int) func(*Enhancer, *pixel.Image, []Enhancement) {
	return func(e *Enhancer, m *pixel.Image, list []Enhancement) {
		e.kernelChanges = e.kernelChanges[:0]
		for _, c := range list {
			e.kernelChanges = append(e.kernelChanges, kernelChange{
				kind: C.int32_t(c.Change), factor: C.float(c.Factor), shift: C.int32_t(hueShift(c.Factor)),
			})
		}
		C.dsconv_enhance(pixelPointer(m.Pix), C.size_t(m.H*m.W), unsafe.SliceData(e.kernelChanges), C.int(len(list)), level)
	}
}

// countValues counts the values of each channel.
func countValues(m *pixel.Image, counts *[3]histogram) {
	C.dsconv_count(pixelPointer(m.Pix), C.size_t(m.H*m.W), C.int(m.C), (*[256]C.uint32_t)(unsafe.Pointer(counts)))
}

// replaceValues looks each channel's values up.
func replaceValues(m *pixel.Image, tables *[3]table) {
	C.dsconv_look_up(pixelPointer(m.Pix), C.size_t(m.H*m.W), C.int(m.C), (*[256]C.uint8_t)(unsafe.Pointer(tables)))
}

// The kernels number the changes as Go does.
const (
	_ = uint(Brightness - C.DSCONV_BRIGHTNESS)
	_ = uint(C.DSCONV_GRAY - Gray)
	_ = uint(Gray - C.DSCONV_GRAY)
)

func pixelPointer(b []byte) *C.uint8_t { return (*C.uint8_t)(unsafe.SliceData(b)) }

func floatPointer(f []float32) *C.float { return (*C.float)(unsafe.SliceData(f)) }
