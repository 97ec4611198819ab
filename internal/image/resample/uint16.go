package resample

import (
	"encoding/binary"
)

// passes16 are ImagingResampleHorizontal_16bpc and Vertical_16bpc of Pillow's Resample.c.
var passes16 = passes{horizontal16, vertical16}

func horizontal16(dst, src View, c *coefficients) {
	for y := range dst.H {
		out, row := dst.Row(y), src.Row(y)
		for x := range dst.W {
			first := int(c.bounds[2*x])
			weigh16(out[x*dst.Size:(x+1)*dst.Size], row[first*src.Size:], c.exactWeights(x), src.Size)
		}
	}
}

func vertical16(dst, src View, c *coefficients, top int) {
	for y := range dst.H {
		first := int(c.bounds[2*y]) - top
		weigh16(dst.Row(y), src.Pix[first*src.Stride:], c.exactWeights(y), src.Stride)
	}
}

// weigh16 sets each element of out to the weighted sum of those at in, in+stride, ...
func weigh16(out, in []byte, weights []float64, stride int) {
	for i := 0; i < len(out); i += 2 {
		sum := 0.0
		for k, w := range weights {
			sum += float64(float64(binary.LittleEndian.Uint16(in[i+k*stride:])) * w)
		}
		if sum >= 0 {
			sum += 0.5
		}
		binary.LittleEndian.PutUint16(out[i:], uint16(min(max(sum, 0), 65535)))
	}
}
