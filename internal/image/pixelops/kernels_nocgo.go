//go:build !cgo

package pixelops

import "github.com/dsconv/dsconv/formats"

var (
	blur8         = blurGo
	sharpen8      = sharpenGo
	enhanceRGB    = enhanceGo
	countValues   = countGo
	replaceValues = replaceGo
)

// kernelChange is used by the C kernels only.
type kernelChange struct{}

// blendFast blends nothing: there is no SIMD without cgo.
func blendFast[T float32 | uint16](formats.DType, []T, []T, float32, float32) int { return 0 }
