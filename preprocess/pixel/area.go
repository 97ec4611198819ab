package pixel

// Area is a rectangle of an image, from (X0, Y0) to (X1, Y1), whose edges may lie inside pixels.
type Area struct{ X0, Y0, X1, Y1 float64 }

// Oriented moves an area of an h by w image as Orient moves its pixels.
func (b Area) Oriented(h, w, orientation int) Area {
	if b == (Area{}) {
		return b
	}
	t := OrientBox([4]float64{b.X0, b.Y0, b.X1, b.Y1}, h, w, orientation)
	return Area{t[0], t[1], t[2], t[3]}
}

// StoredRect returns where the rectangle r of the upright image, of h by w pixels, is stored.
func StoredRect(r Rect, h, w, orientation int) Rect {
	inverse := orientation
	switch orientation {
	case 6:
		inverse = 8
	case 8:
		inverse = 6
	}
	b := OrientBox([4]float64{float64(r.X), float64(r.Y), float64(r.X + r.W), float64(r.Y + r.H)}, h, w, inverse)
	return Rect{X: int(b[0]), Y: int(b[1]), W: int(b[2] - b[0]), H: int(b[3] - b[1])}
}

// ScaledDown returns the rectangle that contains r in the image of h by w pixels scaled down by n,
// and where r lies in it.
func (r Rect) ScaledDown(n, h, w int) (Rect, Area) {
	x, y := r.X/n, r.Y/n
	right, bottom := min((r.X+r.W+n-1)/n, (w+n-1)/n), min((r.Y+r.H+n-1)/n, (h+n-1)/n)
	region := Rect{X: x, Y: y, W: right - x, H: bottom - y}
	at := func(pixel, from int) float64 { return float64(pixel)/float64(n) - float64(from) }
	return region, Area{X0: at(r.X, x), Y0: at(r.Y, y), X1: at(r.X+r.W, x), Y1: at(r.Y+r.H, y)}
}
