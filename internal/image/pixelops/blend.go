package pixelops

import (
	"math"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/resample"
)

// Blend sets each element of dst to dst*weight + other*otherWeight, rounded after each product
// and after the sum, as torch does. other has as many elements.
func Blend(dst, other []float32, weight, otherWeight float32) {
	n := blendFast(formats.Float32, dst, other[:len(dst)], weight, otherWeight)
	blendGo(dst[n:], other[n:], weight, otherWeight)
}

// BlendHalf is Blend for elements of d's type, float16 or bfloat16.
func BlendHalf(d formats.DType, dst, other []uint16, weight, otherWeight float32) {
	n := blendFast(d, dst, other[:len(dst)], weight, otherWeight)
	blendHalfGo(d, dst[n:], other[n:], weight, otherWeight)
}

func blendGo(dst, other []float32, weight, otherWeight float32) {
	for i, x := range dst {
		dst[i] = float32(other[i]*otherWeight) + float32(x*weight)
	}
}

func blendHalfGo(d formats.DType, dst, other []uint16, weight, otherWeight float32) {
	if d == formats.Float16 {
		for i, x := range dst {
			a, b := resample.ToFloat16(fromFloat16(x)*weight), resample.ToFloat16(fromFloat16(other[i])*otherWeight)
			dst[i] = resample.ToFloat16(fromFloat16(a) + fromFloat16(b))
		}
		return
	}
	for i, x := range dst {
		a, b := resample.ToBFloat16(fromBFloat16(x)*weight), resample.ToBFloat16(fromBFloat16(other[i])*otherWeight)
		dst[i] = resample.ToBFloat16(fromBFloat16(a) + fromBFloat16(b))
	}
}

// fromBFloat16 converts a bfloat16.
func fromBFloat16(x uint16) float32 { return math.Float32frombits(uint32(x) << 16) }

// fromFloat16 converts an IEEE half.
func fromFloat16(x uint16) float32 {
	sign, exponent, mantissa := uint32(x&0x8000)<<16, uint32(x>>10&31), uint32(x&0x3FF)
	switch exponent {
	case 31:
		return math.Float32frombits(sign | 0x7F800000 | mantissa<<13)
	case 0:
		v := float32(mantissa) * 0x1p-24
		return math.Float32frombits(sign | math.Float32bits(v))
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | mantissa<<13)
}
