//go:build cgo

package resample

import (
	"encoding/binary"
	"math"
)

// smooth interpolates with the bilinear or the bicubic filter.
func (w *warping) smooth() {
	n := neighbours{src: w.src, left: w.left, top: w.top, taps: 2, deep: w.deep}
	if w.way == bicubic {
		n.taps = 4
	}
	for y := range w.dst.H {
		out := w.dst.Row(y)
		for x := range w.dst.W {
			mx, my := w.point(x, y)
			if !w.inside(mx, my) {
				continue
			}
			n.locate(mx-0.5, my-0.5)
			if n.taps == 2 {
				n.bilinear(out[x*w.dst.Size:][:w.dst.Size])
			} else {
				n.bicubic(out[x*w.dst.Size:][:w.dst.Size])
			}
		}
	}
}

// neighbours are the 2x2 or 4x4 pixels around a point.
type neighbours struct {
	src       View
	left, top int // of src in the image
	taps      int
	deep      bool // 16 bits a value

	rows    [4]int // offsets of the rows
	columns [4]int // offsets in a row
	dx, dy  float64
}

// locate finds the pixels around (x, y), counted from the centre of the first pixel. Outside
// the image, those at the edge repeat.
func (n *neighbours) locate(x, y float64) {
	fx, fy := math.Floor(x), math.Floor(y)
	n.dx, n.dy = x-fx, y-fy
	left, top := int(fx)-(n.taps/2-1)-n.left, int(fy)-(n.taps/2-1)-n.top
	for i := range n.taps {
		n.rows[i] = min(max(top+i, 0), n.src.H-1) * n.src.Stride
		n.columns[i] = min(max(left+i, 0), n.src.W-1) * n.src.Size
	}
}

// bilinear interpolates pixel between the 2x2 neighbours.
func (n *neighbours) bilinear(pixel []byte) {
	for at := 0; at < len(pixel); at += n.step() {
		upper := lerp(n.load(n.rows[0]+n.columns[0]+at), n.load(n.rows[0]+n.columns[1]+at), n.dx)
		lower := lerp(n.load(n.rows[1]+n.columns[0]+at), n.load(n.rows[1]+n.columns[1]+at), n.dx)
		n.store(pixel[at:], lerp(upper, lower, n.dy))
	}
}

// bicubic interpolates pixel between the 4x4 neighbours (a = -1).
func (n *neighbours) bicubic(pixel []byte) {
	for at := 0; at < len(pixel); at += n.step() {
		var v [4]float64
		for i, row := range n.rows {
			v[i] = cubic(n.load(row+n.columns[0]+at), n.load(row+n.columns[1]+at),
				n.load(row+n.columns[2]+at), n.load(row+n.columns[3]+at), n.dx)
		}
		n.store(pixel[at:], cubic(v[0], v[1], v[2], v[3], n.dy))
	}
}

// step is the size of a value in bytes.
func (n *neighbours) step() int {
	if n.deep {
		return 2
	}
	return 1
}

// load returns the value at byte i.
func (n *neighbours) load(i int) float64 {
	if n.deep {
		return float64(binary.LittleEndian.Uint16(n.src.Pix[i:]))
	}
	return float64(n.src.Pix[i])
}

// store writes v, truncated to an integer and clipped to the range of the type.
func (n *neighbours) store(p []byte, v float64) {
	if n.deep {
		binary.LittleEndian.PutUint16(p, uint16(min(max(int(v), 0), math.MaxUint16)))
		return
	}
	p[0] = uint8(min(max(int(v), 0), math.MaxUint8))
}

// lerp interpolates linearly from a to b by d. The conversion keeps the compiler from fusing.
func lerp(a, b, d float64) float64 { return a + float64((b-a)*d) }

// cubic is Pillow's polynomial through four values at d past the second.
func cubic(v1, v2, v3, v4, d float64) float64 {
	p2 := -v1 + v3
	p3 := float64(2*(v1-v2)) + v3 - v4
	p4 := -v1 + v2 - v3 + v4
	return v2 + float64(d*(p2+float64(d*(p3+float64(d*p4)))))
}
