//go:build cgo

package pixelops

/*
#include "enhance_kernel.h"
*/
import "C"

import (
	"unsafe"

	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// kernelChange is an Enhancement as the C kernels take it.
type kernelChange = C.dsconv_change

var enhanceRGB = enhanceC(resample.LevelAVX512)

// enhanceC is enhanceGo in C, one call an image.
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

// countValues is countGo in C.
func countValues(m *pixel.Image, counts *[3]histogram) {
	C.dsconv_count(pixelPointer(m.Pix), C.size_t(m.H*m.W), C.int(m.C), (*[256]C.uint32_t)(unsafe.Pointer(counts)))
}

// replaceValues is replaceGo in C.
func replaceValues(m *pixel.Image, tables *[3]table) {
	C.dsconv_look_up(pixelPointer(m.Pix), C.size_t(m.H*m.W), C.int(m.C), (*[256]C.uint8_t)(unsafe.Pointer(tables)))
}

// The kernels number the changes as Go does.
const (
	_ = uint(Brightness - C.DSCONV_BRIGHTNESS)
	_ = uint(C.DSCONV_GRAY - Gray)
	_ = uint(Gray - C.DSCONV_GRAY)
)
