//go:build cgo

package pixelops

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// TestBlendEqualsPureGo checks that SIMD and pure Go give the same bits for any input.
func TestBlendEqualsPureGo(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 1<<16 + 5
	floats, halves, others := make([]float32, n), make([]uint16, n), make([]uint16, n)
	for i := range n {
		floats[i] = float32(r.NormFloat64() * math.Exp(30*r.NormFloat64()))
		halves[i], others[i] = uint16(i), uint16(r.Uint32())
	}
	for _, weight := range []float32{0, 1, 0.3, 0.77, 1e-7} {
		fast, slow := slices.Clone(floats), slices.Clone(floats)
		other := append(slices.Clone(floats[7:]), floats[:7]...)
		Blend(fast, other, weight, 1-weight)
		blendGo(slow, other, weight, 1-weight)
		for i := range fast {
			if math.Float32bits(fast[i]) != math.Float32bits(slow[i]) {
				t.Fatalf("weight %v: %v and %v give %v, in Go %v", weight, floats[i], other[i], fast[i], slow[i])
			}
		}
		for _, d := range []formats.DType{formats.Float16, formats.BFloat16} {
			fast, slow := slices.Clone(halves), slices.Clone(halves)
			BlendHalf(d, fast, others, weight, 1-weight)
			blendHalfGo(d, slow, others, weight, 1-weight)
			for i := range fast {
				if same := fast[i] == slow[i] || isNaN(d, fast[i]) && isNaN(d, slow[i]); !same {
					t.Fatalf("%s, weight %v: %#x and %#x give %#x, in Go %#x", d, weight, halves[i], others[i], fast[i], slow[i])
				}
			}
		}
	}
}

func isNaN(d formats.DType, x uint16) bool {
	if d == formats.Float16 {
		return x&0x7C00 == 0x7C00 && x&0x3FF != 0
	}
	return x&0x7F80 == 0x7F80 && x&0x7F != 0
}

func BenchmarkBlend(b *testing.B) {
	const n = 3 * 224 * 224
	floats, more := make([]float32, n), make([]float32, n)
	halves, others := make([]uint16, n), make([]uint16, n)
	b.Run("float32", func(b *testing.B) {
		for b.Loop() {
			Blend(floats, more, 0.3, 0.7)
		}
	})
	for _, d := range []formats.DType{formats.Float16, formats.BFloat16} {
		b.Run(string(d), func(b *testing.B) {
			for b.Loop() {
				BlendHalf(d, halves, others, 0.3, 0.7)
			}
		})
	}
}
