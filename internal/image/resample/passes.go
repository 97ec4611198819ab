package resample

import (
	"github.com/dsconv/dsconv/internal/image/buffer"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// passes are the two passes of a separable filter.
type passes struct {
	// horizontal scales each row of src to dst's width. Both have the same number of rows.
	horizontal func(dst, src View, c *coefficients)
	// vertical computes the rows of dst from those of src, which has the same width. src begins
	// at row top of the image that the coefficients refer to.
	vertical func(dst, src View, c *coefficients, top int)
}

// run is ImagingResampleInner of Pillow's Resample.c, which rounds between the passes, so that
// their order matters. Nil coefficients keep that size; not both may be nil. tmp is memory for the
// result of the first pass.
func (p passes) run(dst, src View, hor, ver *coefficients, verticalFirst bool, tmp *pixel.Image) {
	between := func(w, h int) View {
		tmp.Pix = buffer.Grow(tmp.Pix, h*w*src.Size)
		return View{Pix: tmp.Pix, W: w, H: h, Size: src.Size, Stride: w * src.Size}
	}
	switch {
	case ver == nil:
		p.horizontal(dst, src, hor)
	case hor == nil:
		p.vertical(dst, src, ver, 0)
	case verticalFirst:
		first := between(src.W, dst.H)
		p.vertical(first, src, ver, 0)
		p.horizontal(dst, first, hor)
	default:
		top, bottom := ver.sourceRange()
		first := between(dst.W, bottom-top)
		p.horizontal(first, src.Crop(pixel.Rect{Y: top, W: src.W, H: bottom - top}), hor)
		p.vertical(dst, first, ver, top)
	}
}

// sourceRegion is the rectangle of src that the rectangle r of the result is computed from: cropped
// in the directions whose size stays, whole in the others.
func sourceRegion(r pixel.Rect, src View, hor, ver *coefficients) pixel.Rect {
	if hor != nil {
		r.X, r.W = 0, src.W
	}
	if ver != nil {
		r.Y, r.H = 0, src.H
	}
	return r
}

// columnsOf returns the coefficients of r's columns, nil if the width stays.
func columnsOf(r pixel.Rect, hor *coefficients) *coefficients {
	if hor == nil || hor.first == r.X && hor.n == r.W {
		return hor
	}
	c := hor.slice(r.X, r.X+r.W)
	return &c
}

// rowsOf returns the coefficients of r's rows, nil if the height stays.
func rowsOf(r pixel.Rect, ver *coefficients) *coefficients {
	if ver == nil || ver.first == r.Y && ver.n == r.H {
		return ver
	}
	c := ver.slice(r.Y, r.Y+r.H)
	return &c
}

// verticalFirst is Pillow's estimate of which order is faster.
func verticalFirst(w, h, toW, toH int) bool {
	return h > toH && h-toH > 2*(w-toW)
}
