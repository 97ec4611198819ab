package preprocess

// resize8Go scales the part crop of a uint8 image to dst, horizontally first, rounding in
// between, as ImagingResampleHorizontal_8bpc and Vertical_8bpc of Pillow's Resample.c. A nil
// direction keeps its size; at least one is not nil. It is what resize8 is tested against,
// and takes its place in builds without cgo.
func (r *Resampler) resize8Go(dst, src *Image, crop Rect, hor, ver *coefficients) {
	top, bottom := 0, crop.H
	if ver != nil {
		top, bottom = ver.span(dst.H)
	}
	step := src.stride()
	from, stride := src.Pix[(crop.Y+top)*step+crop.X*src.C:], step
	if hor != nil {
		out := dst.stride()
		tmp := dst.Pix
		if ver != nil {
			tmp = r.scratch((bottom - top) * out)
		}
		for y := range bottom - top {
			scaleRow(tmp[y*out:(y+1)*out], from[y*step:], src.C, hor)
		}
		from, stride = tmp, out
	}
	if ver == nil {
		return
	}
	for y := range dst.H {
		first := int(ver.start[y]) - top
		sumRows(dst.Pix[y*dst.stride():(y+1)*dst.stride()], from[first*stride:], stride, ver, y)
	}
}

// scaleRow makes out the horizontally scaled row.
func scaleRow(out, row []byte, channels int, c *coefficients) {
	for x := 0; x*channels < len(out); x++ {
		first := int(c.start[x])
		for ch := range channels {
			sum := int32(1 << (precisionBits - 1))
			for k := range min(c.taps, c.in-first) {
				sum += int32(row[(first+k)*channels+ch]) * c.fixed(x*c.taps+k)
			}
			out[x*channels+ch] = clip8(sum)
		}
	}
}

// sumRows makes out the weighted sum of the rows that output row y is made of.
func sumRows(out, rows []byte, stride int, c *coefficients, y int) {
	for x := range out {
		sum := int32(1 << (precisionBits - 1))
		for k := range min(c.taps, c.in-int(c.start[y])) {
			sum += int32(rows[x+k*stride]) * c.fixed(y*c.taps+k)
		}
		out[x] = clip8(sum)
	}
}

func clip8(sum int32) byte { return byte(min(max(sum>>precisionBits, 0), 255)) }
