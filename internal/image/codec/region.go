package codec

import "github.com/dsconv/dsconv/preprocess/pixel"

// storedRect returns where the rectangle r of the upright image, of h by w pixels, is stored.
func storedRect(r pixel.Rect, h, w, orientation int) pixel.Rect {
	b := pixel.OrientBox([4]float64{float64(r.X), float64(r.Y), float64(r.X + r.W), float64(r.Y + r.H)}, h, w, back(orientation))
	return pixel.Rect{X: int(b[0]), Y: int(b[1]), W: int(b[2] - b[0]), H: int(b[3] - b[1])}
}

// scaledDown returns the rectangle that contains r in the image of h by w pixels scaled down by n,
// and where r lies in it.
func scaledDown(r pixel.Rect, n, h, w int) (pixel.Rect, pixel.Area) {
	x, y := r.X/n, r.Y/n
	right, bottom := min((r.X+r.W+n-1)/n, (w+n-1)/n), min((r.Y+r.H+n-1)/n, (h+n-1)/n)
	region := pixel.Rect{X: x, Y: y, W: right - x, H: bottom - y}
	at := func(pixel, from int) float64 { return float64(pixel)/float64(n) - float64(from) }
	return region, pixel.Area{X0: at(r.X, x), Y0: at(r.Y, y), X1: at(r.X+r.W, x), Y1: at(r.Y+r.H, y)}
}
