package preprocess

import "encoding/binary"

// passes16 are ImagingResampleHorizontal_16bpc and Vertical_16bpc of Pillow's Resample.c.
var passes16 = passes{horizontal16, vertical16}

func horizontal16(dst, src view, c *coefficients) {
	for y := range dst.h {
		out, row := dst.row(y), src.row(y)
		for x := range dst.w {
			first := int(c.bounds[2*x])
			weigh16(out[x*dst.size:(x+1)*dst.size], row[first*src.size:], c.exactWeights(x), src.size)
		}
	}
}

func vertical16(dst, src view, c *coefficients, top int) {
	for y := range dst.h {
		first := int(c.bounds[2*y]) - top
		weigh16(dst.row(y), src.pix[first*src.stride:], c.exactWeights(y), src.stride)
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
