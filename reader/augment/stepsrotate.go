package augment

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Rotate turns the image counter-clockwise about center (x, y), nil for its middle, as Pillow's
// Image.rotate does. The size stays; if expand, it grows so that all of the image is seen, where
// the center is the middle. Turns by right angles about the middle move whole pixels. f and fill
// are as for Affine.
func (s *Steps) Rotate(degrees float64, f pixel.Filter, expand bool, center, fill []float64) {
	if !(math.Abs(degrees) <= maxAmount) || center != nil && len(center) != 2 {
		s.Fail(fmt.Errorf("rotate by %v degrees about %v: wanted a number and x and y", degrees, center))
		return
	}
	degrees = math.Mod(degrees, 360)
	if degrees < 0 {
		degrees += 360
	}
	if center == nil && s.turn(degrees, expand) {
		return
	}
	m := rotation(degrees, s.path.H, s.path.W, center)
	h, w := s.path.H, s.path.W
	if expand {
		h, w = expanded(m, h, w)
		m[2], m[5] = apply(m, -float64(w-s.path.W)/2, -float64(h-s.path.H)/2)
	}
	s.warp(resample.Affine{Matrix: m, Filter: cmp.Or(f, pixel.Nearest), Fill: fill}, h, w)
}

// turn turns by right angles, where the result has the size that is wanted.
func (s *Steps) turn(degrees float64, expand bool) bool {
	switch {
	case degrees == 0:
	case degrees == 180:
		s.Flip()
		s.FlipV()
	case degrees == 90 && (expand || s.path.H == s.path.W):
		s.Transpose()
		s.FlipV()
	case degrees == 270 && (expand || s.path.H == s.path.W):
		s.Transpose()
		s.Flip()
	default:
		return false
	}
	return true
}

// rotation maps the pixels of a turned image of h by w pixels to those of the image.
func rotation(degrees float64, h, w int, center []float64) (m [6]float64) {
	x, y := float64(w)/2, float64(h)/2
	if center != nil {
		x, y = center[0], center[1]
	}
	sin, cos := math.Sincos(-degrees * (math.Pi / 180))
	m = [6]float64{round15(cos), round15(sin), 0, round15(-sin), round15(cos), 0}
	m[2], m[5] = apply(m, -x, -y)
	m[2] += x
	m[5] += y
	return m
}

// apply maps a place. The conversions keep the compiler from fusing.
func apply(m [6]float64, x, y float64) (mx, my float64) {
	mx = float64(m[0]*x) + float64(m[1]*y) + m[2]
	my = float64(m[3]*x) + float64(m[4]*y) + m[5]
	return mx, my
}

// expanded is the size that all of an image of h by w pixels fits in.
func expanded(m [6]float64, h, w int) (int, int) {
	minX, minY, maxX, maxY := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, corner := range [4][2]int{{0, 0}, {w, 0}, {w, h}, {0, h}} {
		x, y := apply(m, float64(corner[0]), float64(corner[1]))
		minX, minY, maxX, maxY = min(minX, x), min(minY, y), max(maxX, x), max(maxY, y)
	}
	return int(math.Ceil(maxY) - math.Floor(minY)), int(math.Ceil(maxX) - math.Floor(minX))
}

// round15 rounds to 15 decimals as Python's round does: exactly, ties to even.
func round15(x float64) float64 {
	var b [32]byte
	rounded, _ := strconv.ParseFloat(string(strconv.AppendFloat(b[:0], x, 'f', 15, 64)), 64)
	return rounded
}
