//go:build !cgo

package pixelops

import "github.com/dsconv/dsconv/formats"

// blendFast blends nothing: there is no SIMD without cgo.
func blendFast[T float32 | uint16](formats.DType, []T, []T, float32, float32) int { return 0 }
