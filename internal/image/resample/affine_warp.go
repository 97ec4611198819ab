package resample

import (
	"math"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/buffer"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// warping is one run of the affine kernels. Pixels that map outside the image keep their value.
type warping struct {
	dst, src       View // src is the part of the image that is at hand
	matrix         [6]float64
	imageH, imageW int
	left, top      int // of src in the image
	x, y           int // of dst in the result
	way            way
	deep           bool // 16 bits a value

	// Of fixed: x and y of the first pixel in the image, and what a step to the right and down adds,
	// in 16.16 fixed point.
	start, right, down [2]int32
}

// way is how the point of a pixel is computed: ImagingTransformAffine of Pillow's Geometry.c rounds
// differently for matrices without rotation, matrices that fit 16.16 fixed point, other matrices,
// 16-bit images, and with a filter. The numbers are those of affine_kernel.h.
type way int32

const (
	scaled   way = iota // ImagingScaleAffine
	fixed               // affine_fixed
	added               // the rest of ImagingTransformAffine: steps are added up
	mapped              // ImagingGenericTransform with nearest_filter16
	bilinear            // ImagingGenericTransform with its filters, in double precision
	bicubic
)

// warper carries out a warping, with the scratch memory of a Resampler.
type warper func(r *Resampler, w *warping)

func (w *warping) set(dst, src View, m *Mapping, d formats.DType) {
	*w = warping{
		dst: dst, src: src, matrix: m.Matrix, imageH: m.ImageH, imageW: m.ImageW,
		left: m.Left, top: m.Top, x: m.Region.X, y: m.Region.Y, deep: d == formats.Uint16,
	}
	w.way = m.way(w.deep)
	if w.way == fixed {
		w.fix()
	}
}

func (m *Mapping) way(deep bool) way {
	switch {
	case m.Filter == pixel.Bilinear:
		return bilinear
	case m.Filter == pixel.Bicubic:
		return bicubic
	case deep:
		return mapped
	case m.Matrix[1] == 0 && m.Matrix[3] == 0:
		return scaled
	case fitsFixedPoint(m.Matrix, m.W, m.H):
		return fixed
	}
	return added
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

func (w *warping) fix() {
	m := &w.matrix
	fix := func(v float64) int32 { return int32(math.Floor(float64(v*65536) + 0.5)) }
	w.right, w.down = [2]int32{fix(m[0]), fix(m[3])}, [2]int32{fix(m[1]), fix(m[4])}
	w.start[0] = fix(m[2] + float64(m[0]*0.5) + float64(m[1]*0.5))
	w.start[1] = fix(m[5] + float64(m[3]*0.5) + float64(m[4]*0.5))
	for i := range w.start {
		w.start[i] += int32(w.x)*w.right[i] + int32(w.y)*w.down[i]
	}
}

// columns are the columns of src that those of dst show, -1 outside: of scaled.
func (w *warping) columns(at []int32) []int32 {
	at = buffer.Grow(at, w.dst.W)
	mx := w.matrix[2] + float64(w.matrix[0]*0.5)
	for x := range w.x + w.dst.W {
		if x >= w.x {
			at[x-w.x] = -1
			if 0 <= mx && mx < float64(w.imageW) {
				at[x-w.x] = int32(mx)
			}
		}
		mx += w.matrix[0] // one by one, as Pillow rounds
	}
	return at
}
