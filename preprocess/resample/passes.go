package resample

import "github.com/dsconv/dsconv/preprocess/pixel"

// passes are the two directions of a separable filter.
type passes struct {
	// horizontal scales each row of src to dst's width; they have equally many.
	horizontal func(dst, src pixel.View, c *coefficients)
	// vertical makes dst's rows of src's, which are equally wide. src begins at the row top
	// of the image that the coefficients speak of.
	vertical func(dst, src pixel.View, c *coefficients, top int)
}

// run is ImagingResampleInner of Pillow's Resample.c, which rounds between the passes, so
// that their order matters. A nil direction keeps its size; not both are nil. tmp is memory
// for what is in between.
func (p passes) run(dst, src pixel.View, hor, ver *coefficients, verticalFirst bool, tmp *pixel.Image) {
	between := func(w, h int) pixel.View {
		tmp.Pix = pixel.Grow(tmp.Pix, h*w*src.Size)
		return pixel.View{Pix: tmp.Pix, W: w, H: h, Size: src.Size, Stride: w * src.Size}
	}
	switch {
	case ver == nil:
		p.horizontal(dst, src, hor)
	case hor == nil:
		p.vertical(dst, src, ver, 0)
	case verticalFirst:
		once := between(src.W, dst.H)
		p.vertical(once, src, ver, 0)
		p.horizontal(dst, once, hor)
	default:
		top, bottom := ver.span()
		once := between(dst.W, bottom-top)
		p.horizontal(once, src.Crop(pixel.Rect{Y: top, W: src.W, H: bottom - top}), hor)
		p.vertical(dst, once, ver, top)
	}
}

// keptRect is the part of src that the part r of the result is made of, in the directions whose
// size stays.
func keptRect(r pixel.Rect, src pixel.View, hor, ver *coefficients) pixel.Rect {
	if hor != nil {
		r.X, r.W = 0, src.W
	}
	if ver != nil {
		r.Y, r.H = 0, src.H
	}
	return r
}

// columnsOf are the coefficients of r's columns, nil where the width stays.
func columnsOf(r pixel.Rect, hor *coefficients) *coefficients {
	if hor == nil || hor.first == r.X && hor.n == r.W {
		return hor
	}
	c := hor.of(r.X, r.X+r.W)
	return &c
}

// rowsOf are the coefficients of r's rows, nil where the height stays.
func rowsOf(r pixel.Rect, ver *coefficients) *coefficients {
	if ver == nil || ver.first == r.Y && ver.n == r.H {
		return ver
	}
	c := ver.of(r.Y, r.Y+r.H)
	return &c
}

// verticalFirst is Pillow's guess of which order is faster.
func verticalFirst(w, h, toW, toH int) bool {
	return h > toH && h-toH > 2*(w-toW)
}
