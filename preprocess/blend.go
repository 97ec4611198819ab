package preprocess

import (
	"math"

	"github.com/dsconv/dsconv/formats"
)

// Blend makes each element of dst itself times share plus other's times rest, rounded after
// each product and after the sum, as torch does. other has as many.
func Blend(dst, other []float32, share, rest float32) {
	n := blendFast(formats.Float32, dst, other[:len(dst)], share, rest)
	blendGo(dst[n:], other[n:], share, rest)
}

// BlendHalf is Blend for elements of d's type, float16 or bfloat16.
func BlendHalf(d formats.DType, dst, other []uint16, share, rest float32) {
	n := blendFast(d, dst, other[:len(dst)], share, rest)
	blendHalfGo(d, dst[n:], other[n:], share, rest)
}

func blendGo(dst, other []float32, share, rest float32) {
	for i, x := range dst {
		dst[i] = float32(other[i]*rest) + float32(x*share)
	}
}

func blendHalfGo(d formats.DType, dst, other []uint16, share, rest float32) {
	if d == formats.Float16 {
		for i, x := range dst {
			a, b := toFloat16(fromFloat16(x)*share), toFloat16(fromFloat16(other[i])*rest)
			dst[i] = toFloat16(fromFloat16(a) + fromFloat16(b))
		}
		return
	}
	for i, x := range dst {
		a, b := toBFloat16(fromBFloat16(x)*share), toBFloat16(fromBFloat16(other[i])*rest)
		dst[i] = toBFloat16(fromBFloat16(a) + fromBFloat16(b))
	}
}

// wideB16 is the value of a bfloat16.
func fromBFloat16(x uint16) float32 { return math.Float32frombits(uint32(x) << 16) }

// wide16 is the value of an IEEE half.
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
