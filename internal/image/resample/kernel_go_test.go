//go:build cgo

package resample

import (
	"github.com/dsconv/dsconv/formats"
)

// passes8 are ImagingResampleHorizontal_8bpc and Vertical_8bpc of Pillow's Resample.c.
var passes8 = passes{horizontal8, vertical8}

// resampleGo is resample8 in Go, which the C kernels are compared with.
func resampleGo(r *Resampler, j *resampling) {
	region := j.target.Region
	src := j.src.Crop(sourceRegion(region, j.src, j.hor, j.ver))
	if j.hor != nil || j.ver != nil {
		r.scaled.Reset(region.H, region.W, j.src.Size, formats.Uint8)
		passes8.run(ViewOf(&r.scaled), src, columnsOf(region, j.hor), rowsOf(region, j.ver), j.verticalFirst, &r.tmp)
		src = ViewOf(&r.scaled)
	}
	j.target.write8(src)
}

func horizontal8(dst, src View, c *coefficients) {
	for y := range dst.H {
		scaleRow(dst.Row(y), src.Row(y), src.Size, c)
	}
}

// scaleRow scales row horizontally to out.
func scaleRow(out, row []byte, channels int, c *coefficients) {
	for x := 0; x*channels < len(out); x++ {
		first := int(c.start[x])
		for ch := range channels {
			sum := int32(1 << (precisionBits - 1))
			for k := range min(c.taps, c.in-first) {
				sum += int32(row[(first+k)*channels+ch]) * c.fixed(x, k)
			}
			out[x*channels+ch] = clip8(sum)
		}
	}
}

func vertical8(dst, src View, c *coefficients, top int) {
	for y := range dst.H {
		first := int(c.start[y]) - top
		sumRows(dst.Row(y), src.Pix[first*src.Stride:], src.Stride, c, y)
	}
}

// sumRows sets out to the weighted sum of the source rows of output row y.
func sumRows(out, rows []byte, stride int, c *coefficients, y int) {
	for x := range out {
		sum := int32(1 << (precisionBits - 1))
		for k := range min(c.taps, c.in-int(c.start[y])) {
			sum += int32(rows[x+k*stride]) * c.fixed(y, k)
		}
		out[x] = clip8(sum)
	}
}

func clip8(sum int32) byte { return byte(min(max(sum>>precisionBits, 0), 255)) }
