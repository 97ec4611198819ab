package preprocess

// view is an image, or a rectangle of one, whose rows begin stride bytes apart.
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

// row returns the bytes of row y.
func (v view) row(y int) []byte { return v.pix[y*v.stride:][:v.w*v.size] }
