package geometry

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// ReadBoxes appends to dst the boxes that a field's value holds: data, of type d, is x0 y0 x1 y1 in pixels for
// each, of float32.
func ReadBoxes(dst []float32, data []byte, d formats.DType) ([]float32, error) {
	if d != formats.Float32 || len(data)%16 != 0 {
		return dst, fmt.Errorf("%w: boxes of %d bytes of %s: each must have 4 values of float32", formats.ErrSchema, len(data), d)
	}
	for ; len(data) > 0; data = data[4:] {
		dst = append(dst, math.Float32frombits(binary.LittleEndian.Uint32(data)))
	}
	return dst, nil
}

// AppendBoxes appends boxes to dst as a field's value holds them.
func AppendBoxes(dst []byte, boxes []float32) []byte {
	for _, x := range boxes {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
	}
	return dst
}

// Boxes appends to dst what p makes of boxes (N,4), each x0 y0 x1 y1 in pixels of the image as it is stored,
// and gives the result. Each step cuts them at the edges, as ClampBoundingBoxes of torchvision.transforms.v2 does;
// what lies outside becomes empty but stays: the number of boxes is the same. A rotated box becomes the
// smallest upright one that encloses it. dst may be boxes[:0].
func (p *Path) Boxes(dst, boxes []float32) []float32 {
	n := len(dst)
	dst = append(dst, boxes[:len(boxes)/4*4]...)
	moved := dst[n:]
	pixel.OrientBoxes(moved, p.FromH, p.FromW, p.Orientation)
	for ; len(moved) > 0; moved = moved[4:] {
		b := box{float64(moved[0]), float64(moved[1]), float64(moved[2]), float64(moved[3])}
		for i := range p.Steps {
			st := &p.Steps[i]
			b = b.crop(st.Window).flip(st.Flips, st.Window).step(st)
		}
		b = b.crop(p.Window).flip(p.Flips, p.Window)
		moved[0], moved[1], moved[2], moved[3] = float32(b.x0), float32(b.y0), float32(b.x1), float32(b.y1)
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
func (b box) flip(f Flips, r pixel.Rect) box {
	if f.H {
		b.x0, b.x1 = float64(r.W)-b.x1, float64(r.W)-b.x0
	}
	if f.V {
		b.y0, b.y1 = float64(r.H)-b.y1, float64(r.H)-b.y0
	}
	return b
}

// step moves the box of the step's input.
func (b box) step(s *Step) box {
	switch s.Kind {
	case Resize:
		x, y := float64(s.W)/float64(s.Window.W), float64(s.H)/float64(s.Window.H)
		return box{b.x0 * x, b.y0 * y, b.x1 * x, b.y1 * y}
	case Pad:
		x, y := float64(s.Border.Left), float64(s.Border.Top)
		return box{b.x0 + x, b.y0 + y, b.x1 + x, b.y1 + y}
	case Transpose:
		return box{b.y0, b.x0, b.y1, b.x1}
	case Affine:
		return b.affine(s.Affine.Matrix).clamp(s.H, s.W)
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
