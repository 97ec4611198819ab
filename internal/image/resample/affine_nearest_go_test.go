//go:build cgo

package resample

// warpGo is what the C kernels are compared with.
func warpGo(r *Resampler, w *warping) {
	offsets := make([]int, w.dst.W)
	switch w.way {
	case scaled:
		r.columns = w.columns(r.columns)
		w.scaled(r.columns, offsets)
	case fixed:
		w.fixed(offsets)
	case added:
		w.added(offsets)
	case mapped:
		w.mapped(offsets)
	default:
		w.smooth()
	}
}

// pixel returns the offset in src of pixel (x, y) of the image, -1 outside.
func (w *warping) pixel(x, y int) int {
	x, y = x-w.left, y-w.top
	if uint(x) >= uint(w.src.W) || uint(y) >= uint(w.src.H) {
		return -1
	}
	return y*w.src.Stride + x*w.src.Size
}

// inside reports whether a point lies in the image.
func (w *warping) inside(x, y float64) bool {
	return 0 <= x && x < float64(w.imageW) && 0 <= y && y < float64(w.imageH)
}

// offset returns the offset in src of the pixel that contains (x, y), -1 outside.
func (w *warping) offset(x, y float64) int {
	if !w.inside(x, y) {
		return -1
	}
	return w.pixel(int(x), int(y))
}

// mapped computes each point by itself.
func (w *warping) mapped(at []int) {
	for y := range w.dst.H {
		for x := range at {
			at[x] = w.offset(w.point(x, y))
		}
		w.gather(y, at)
	}
}

// point is affine_transform of a pixel of dst. The conversions keep the compiler from fusing.
func (w *warping) point(x, y int) (mx, my float64) {
	m, fx, fy := &w.matrix, float64(w.x+x)+0.5, float64(w.y+y)+0.5
	mx = float64(float64(m[0]*fx)+float64(m[1]*fy)) + m[2]
	my = float64(float64(m[3]*fx)+float64(m[4]*fy)) + m[5]
	return mx, my
}

// scaled takes the same columns in each row.
func (w *warping) scaled(columns []int32, at []int) {
	my := w.matrix[5] + float64(w.matrix[4]*0.5)
	for y := range w.y + w.dst.H {
		if y >= w.y && 0 <= my && my < float64(w.imageH) {
			for x, column := range columns {
				at[x] = w.pixel(int(column), int(my))
			}
			w.gather(y-w.y, at)
		}
		my += w.matrix[4] // one by one, as Pillow rounds
	}
}

// fixed computes in 16.16 fixed point.
func (w *warping) fixed(at []int) {
	startX, startY := w.start[0], w.start[1]
	for y := range w.dst.H {
		mx, my := startX, startY
		for x := range at {
			at[x] = w.pixel(int(mx>>16), int(my>>16))
			mx += w.right[0]
			my += w.right[1]
		}
		w.gather(y, at)
		startX += w.down[0]
		startY += w.down[1]
	}
}

// added adds step to step, as Pillow rounds.
func (w *warping) added(at []int) {
	m := &w.matrix
	startX := m[2] + float64(m[1]*0.5) + float64(m[0]*0.5)
	startY := m[5] + float64(m[4]*0.5) + float64(m[3]*0.5)
	for y := range w.y + w.dst.H {
		if y >= w.y {
			mx, my := startX, startY
			for x := range w.x + len(at) {
				if x >= w.x {
					at[x-w.x] = w.offset(mx, my)
				}
				mx += m[0]
				my += m[3]
			}
			w.gather(y-w.y, at)
		}
		startX += m[1]
		startY += m[4]
	}
}

// gather copies the pixels of src at the offsets to row y of dst. Where the offset is -1, the
// pixel keeps its value.
func (w *warping) gather(y int, at []int) {
	out, pix, size := w.dst.Row(y), w.src.Pix, w.dst.Size
	for x, i := range at {
		if i >= 0 {
			copy(out[x*size:][:size], pix[i:])
		}
	}
}
