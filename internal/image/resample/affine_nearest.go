package resample

import (
	"math"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/view"
)

// warpNearest is ImagingTransformAffine of Pillow's Geometry.c without a filter. Pillow rounds
// differently for matrices without rotation, matrices that fit 16.16 fixed point, other
// matrices, and 16-bit images. Pixels that map outside src keep their value. offsets is
// scratch memory for a row.
func warpNearest(dst, src view.View, m [6]float64, d formats.DType, offsets []int) {
	switch {
	case d == formats.Uint16:
		warpEach(dst, src, m, offsets)
	case m[1] == 0 && m[3] == 0:
		warpScaled(dst, src, m, offsets)
	case fitsFixedPoint(m, dst.W, dst.H):
		warpFixed(dst, src, m, offsets)
	default:
		warpFloat(dst, src, m, offsets)
	}
}

// offset returns the offset in v of the pixel that contains (x, y), -1 outside.
func offset(v view.View, x, y float64) int {
	if !(0 <= x && x < float64(v.W) && 0 <= y && y < float64(v.H)) {
		return -1
	}
	return int(y)*v.Stride + int(x)*v.Size
}

// warpEach is ImagingGenericTransform with nearest_filter16.
func warpEach(dst, src view.View, m [6]float64, at []int) {
	for y := range dst.H {
		for x := range at {
			mx, my := mapPoint(&m, x, y)
			at[x] = offset(src, mx, my)
		}
		gather(dst, y, src, at)
	}
}

// mapPoint is affine_transform. The conversions keep the compiler from fusing.
func mapPoint(m *[6]float64, x, y int) (mx, my float64) {
	fx, fy := float64(x)+0.5, float64(y)+0.5
	mx = float64(float64(m[0]*fx)+float64(m[1]*fy)) + m[2]
	my = float64(float64(m[3]*fx)+float64(m[4]*fy)) + m[5]
	return mx, my
}

// warpScaled is ImagingScaleAffine.
func warpScaled(dst, src view.View, m [6]float64, at []int) {
	mx := m[2] + float64(m[0]*0.5)
	for x := range at {
		at[x] = offset(src, mx, 0)
		mx += m[0]
	}
	my := m[5] + float64(m[4]*0.5)
	for y := range dst.H {
		if 0 <= my && my < float64(src.H) {
			row := src
			row.Pix = src.Pix[int(my)*src.Stride:]
			gather(dst, y, row, at)
		}
		my += m[4]
	}
}

// fitsFixedPoint is check_fixed for the corners of a result of w by h pixels.
func fitsFixedPoint(m [6]float64, w, h int) bool {
	const limit = 32768
	for _, corner := range [][2]float64{{0, 0}, {float64(w), float64(h)}, {0, float64(h)}, {float64(w), 0}} {
		x, y := corner[0], corner[1]
		if !(math.Abs(float64(x*m[0])+float64(y*m[1])+m[2]) < limit && math.Abs(float64(x*m[3])+float64(y*m[4])+m[5]) < limit) {
			return false
		}
	}
	return true
}

// warpFixed is affine_fixed.
func warpFixed(dst, src view.View, m [6]float64, at []int) {
	fix := func(v float64) int32 { return int32(math.Floor(float64(v*65536) + 0.5)) }
	dx, dy := fix(m[0]), fix(m[3])
	downX, downY := fix(m[1]), fix(m[4])
	startX := fix(m[2] + float64(m[0]*0.5) + float64(m[1]*0.5))
	startY := fix(m[5] + float64(m[3]*0.5) + float64(m[4]*0.5))
	w, h := uint32(src.W), uint32(src.H)
	for y := range dst.H {
		mx, my := startX, startY
		for x := range at {
			at[x] = -1
			if px, py := uint32(mx>>16), uint32(my>>16); px < w && py < h {
				at[x] = int(py)*src.Stride + int(px)*src.Size
			}
			mx += dx
			my += dy
		}
		gather(dst, y, src, at)
		startX += downX
		startY += downY
	}
}

// warpFloat is the rest of ImagingTransformAffine.
func warpFloat(dst, src view.View, m [6]float64, at []int) {
	startX := m[2] + float64(m[1]*0.5) + float64(m[0]*0.5)
	startY := m[5] + float64(m[4]*0.5) + float64(m[3]*0.5)
	for y := range dst.H {
		mx, my := startX, startY
		for x := range at {
			at[x] = offset(src, mx, my)
			mx += m[0]
			my += m[3]
		}
		gather(dst, y, src, at)
		startX += m[1]
		startY += m[4]
	}
}

// gather copies the pixels of src at the offsets to row y of v. Where the offset is -1, the
// pixel keeps its value.
func gather(v view.View, y int, src view.View, at []int) {
	out, pix := v.Row(y), src.Pix
	switch v.Size {
	case 1:
		for x, i := range at {
			if i >= 0 {
				out[x] = pix[i]
			}
		}
	case 3:
		for x, i := range at {
			if i >= 0 {
				*(*[3]byte)(out[3*x:]) = [3]byte(pix[i:])
			}
		}
	default:
		for x, i := range at {
			if i >= 0 {
				copy(out[x*v.Size:][:v.Size], pix[i:])
			}
		}
	}
}
