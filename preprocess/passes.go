package preprocess

// view is an image, or a part of one, whose rows lie stride bytes apart.
type view struct {
	pix    []byte // from the first pixel to the end of the buffer
	w, h   int    // in pixels
	size   int    // of a pixel, in bytes
	stride int
}

func (m *Image) view() view { return view{m.Pix, m.W, m.H, m.pixelSize(), m.stride()} }

func (v view) crop(r Rect) view {
	return view{v.pix[r.Y*v.stride+r.X*v.size:], r.W, r.H, v.size, v.stride}
}

// row is the bytes of row y.
func (v view) row(y int) []byte { return v.pix[y*v.stride:][:v.w*v.size] }

// passes are the two directions of a separable filter.
type passes struct {
	// horizontal scales each row of src to dst's width; they have equally many. pad is scratch
	// memory for two rows of each.
	horizontal func(dst, src view, c *coefficients, pad []byte)
	// vertical makes dst's rows of src's, which are equally wide. src begins at the row top
	// of the image that the coefficients speak of.
	vertical func(dst, src view, c *coefficients, top int)
}

// resample is ImagingResampleInner of Pillow's Resample.c, which rounds between the passes,
// so that their order matters. A nil direction keeps its size; not both are nil.
func (r *Resampler) resample(dst, src view, hor, ver *coefficients, p passes) {
	r.pad = grow(r.pad, 2*((src.w+dst.w)*src.size+2*slack))
	switch {
	case ver == nil:
		p.horizontal(dst, src, hor, r.pad)
	case hor == nil:
		p.vertical(dst, src, ver, 0)
	case verticalFirst(src.w, src.h, dst.w, dst.h):
		tmp := r.between(src.w, dst.h, src.size)
		p.vertical(tmp, src, ver, 0)
		p.horizontal(dst, tmp, hor, r.pad)
	default:
		top, bottom := ver.span(dst.h)
		tmp := r.between(dst.w, bottom-top, src.size)
		p.horizontal(tmp, src.crop(Rect{Y: top, W: src.w, H: bottom - top}), hor, r.pad)
		p.vertical(dst, tmp, ver, top)
	}
}

// verticalFirst is Pillow's guess of which order is faster.
func verticalFirst(w, h, toW, toH int) bool {
	return h > toH && h-toH > 2*(w-toW)
}

// slack is the room after rows of scratch memory, for loops that read and write whole
// registers.
const slack = 32

// between gives memory for what the first of two passes makes.
func (r *Resampler) between(w, h, size int) view {
	stride := w*size + slack
	r.tmp = grow(r.tmp, h*stride)
	return view{r.tmp, w, h, size, stride}
}

// grow gives n bytes of unspecified content, those of b where it has them.
func grow(b []byte, n int) []byte {
	if cap(b) < n {
		b = make([]byte, n)
	}
	return b[:n]
}
