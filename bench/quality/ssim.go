package quality

import "math"

// The constants of Wang et al., "Image Quality Assessment: From Error Visibility to Structural Similarity" (2004).
const (
	radius = 5   // of the window of 11x11
	sigma  = 1.5 // of its Gaussian weights
	c1     = (0.01 * 255) * (0.01 * 255)
	c2     = (0.03 * 255) * (0.03 * 255)
)

// weights are the window's, in one direction.
var weights = gaussian()

func gaussian() (w [2*radius + 1]float64) {
	sum := 0.0
	for i := range w {
		x := float64(i - radius)
		w[i] = math.Exp(-x * x / (2 * sigma * sigma))
		sum += w[i]
	}
	for i := range w {
		w[i] /= sum
	}
	return w
}

// ssim is the mean SSIM of the two planes of h by w. The mean leaves out a border of the window's radius, as the
// paper and scikit-image do; images that are no larger than the window are compared as one window.
func (d *Difference) ssim(h, w int) float64 {
	a, b := d.planes[0], d.planes[1]
	if h <= 2*radius || w <= 2*radius {
		return wholeSSIM(a, b)
	}
	for k := range d.work {
		d.work[k] = grow(d.work[k], h*w)
	}
	for i, x := range a {
		y := b[i]
		d.work[2][i], d.work[3][i], d.work[4][i] = x*x, y*y, x*y
	}
	copy(d.work[0], a)
	copy(d.work[1], b)
	d.rows = grow(d.rows, h*w)
	for _, plane := range d.work {
		smooth(plane, d.rows, h, w)
	}
	sum := 0.0
	for y := radius; y < h-radius; y++ {
		for i := y*w + radius; i < (y+1)*w-radius; i++ {
			sum += similarity(d.work[0][i], d.work[1][i], d.work[2][i], d.work[3][i], d.work[4][i])
		}
	}
	return sum / float64((h-2*radius)*(w-2*radius))
}

// similarity is the SSIM of a window from the means of x, y, x*x, y*y and x*y.
func similarity(x, y, xx, yy, xy float64) float64 {
	vx, vy, cov := xx-x*x, yy-y*y, xy-x*y
	return (2*x*y + c1) * (2*cov + c2) / ((x*x + y*y + c1) * (vx + vy + c2))
}

// smooth applies the window to each pixel of the plane that has it, first along the rows, into rows.
// Other pixels are unspecified.
func smooth(plane, rows []float64, h, w int) {
	for y := range h {
		row, out := plane[y*w:(y+1)*w], rows[y*w:(y+1)*w]
		for x := radius; x < w-radius; x++ {
			sum := 0.0
			for k, weight := range weights {
				sum += weight * row[x+k-radius]
			}
			out[x] = sum
		}
	}
	for y := radius; y < h-radius; y++ {
		for x := radius; x < w-radius; x++ {
			sum := 0.0
			for k, weight := range weights {
				sum += weight * rows[(y+k-radius)*w+x]
			}
			plane[y*w+x] = sum
		}
	}
}

// wholeSSIM is the SSIM of two small planes as one window with equal weights.
func wholeSSIM(a, b []float64) float64 {
	var x, y, xx, yy, xy float64
	for i, u := range a {
		v := b[i]
		x, y, xx, yy, xy = x+u, y+v, xx+u*u, yy+v*v, xy+u*v
	}
	n := float64(len(a))
	return similarity(x/n, y/n, xx/n, yy/n, xy/n)
}
