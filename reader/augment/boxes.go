package augment

import "github.com/dsconv/dsconv/preprocess/pixel"

// Boxes appends to dst what s makes of boxes (N,4), each x0 y0 x1 y1 in pixels of the image
// that s was Reset to, and gives the result. Crops shift them and cut them at the edges; what
// lies outside becomes empty but stays: the number of boxes is the same. A rotated box becomes
// the smallest upright one that encloses it, as in torchvision.transforms.v2. dst may be
// boxes[:0].
func (s *Steps) Boxes(dst, boxes []float32) []float32 {
	for at := 0; at+4 <= len(boxes); at += 4 {
		b := box{float64(boxes[at]), float64(boxes[at+1]), float64(boxes[at+2]), float64(boxes[at+3])}
		for i := range s.steps {
			st := &s.steps[i]
			b = b.crop(st.window).flip(st.flips, st.window).step(st)
		}
		b = b.crop(s.window).flip(s.flips, s.window)
		dst = append(dst, float32(b.x0), float32(b.y0), float32(b.x1), float32(b.y1))
	}
	return dst
}

type box struct{ x0, y0, x1, y1 float64 }

// crop is the box as seen in the part r.
func (b box) crop(r pixel.Rect) box {
	x, y := float64(r.X), float64(r.Y)
	return box{b.x0 - x, b.y0 - y, b.x1 - x, b.y1 - y}.clamp(r.H, r.W)
}

// clamp cuts the box at the edges of an image of h by w pixels.
func (b box) clamp(h, w int) box {
	in := func(v float64, n int) float64 { return min(max(v, 0), float64(n)) }
	return box{in(b.x0, w), in(b.y0, h), in(b.x1, w), in(b.y1, h)}
}

// flip mirrors the box in the part r.
func (b box) flip(f flips, r pixel.Rect) box {
	if f.h {
		b.x0, b.x1 = float64(r.W)-b.x1, float64(r.W)-b.x0
	}
	if f.v {
		b.y0, b.y1 = float64(r.H)-b.y1, float64(r.H)-b.y0
	}
	return b
}

// step moves the box of the step's input.
func (b box) step(s *step) box {
	switch s.kind {
	case resizing:
		x, y := float64(s.w)/float64(s.window.W), float64(s.h)/float64(s.window.H)
		return box{b.x0 * x, b.y0 * y, b.x1 * x, b.y1 * y}
	case pad:
		x, y := float64(s.border.left), float64(s.border.top)
		return box{b.x0 + x, b.y0 + y, b.x1 + x, b.y1 + y}
	case transpose:
		return box{b.y0, b.x0, b.y1, b.x1}
	case affine:
		return b.affine(s.affine.Matrix).clamp(s.h, s.w)
	}
	return b
}

// affine encloses where the box's corners come to lie under m, which maps the other way. A
// map that is not invertible leaves nothing.
func (b box) affine(m [6]float64) box {
	det := m[0]*m[4] - m[1]*m[3]
	if det == 0 {
		return box{}
	}
	var out box
	for i, corner := range [4][2]float64{{b.x0, b.y0}, {b.x1, b.y0}, {b.x1, b.y1}, {b.x0, b.y1}} {
		dx, dy := corner[0]-m[2], corner[1]-m[5]
		x, y := (m[4]*dx-m[1]*dy)/det, (m[0]*dy-m[3]*dx)/det
		if i == 0 {
			out = box{x, y, x, y}
			continue
		}
		out = box{min(out.x0, x), min(out.y0, y), max(out.x1, x), max(out.y1, y)}
	}
	return out
}
