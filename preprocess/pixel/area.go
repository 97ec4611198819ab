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
