package preprocess

import (
	"encoding/binary"
	"math"
)

// samples reads and writes the values of a pixel type.
type samples interface {
	size() int
	load(p []byte) float64
	store(p []byte, v float64) // cut to whole numbers and to what the type holds
}

type samples8 struct{}

func (samples8) size() int                 { return 1 }
func (samples8) load(p []byte) float64     { return float64(p[0]) }
func (samples8) store(p []byte, v float64) { p[0] = uint8(min(max(v, 0), math.MaxUint8)) }

type samples16 struct{}

func (samples16) size() int             { return 2 }
func (samples16) load(p []byte) float64 { return float64(binary.LittleEndian.Uint16(p)) }
func (samples16) store(p []byte, v float64) {
	binary.LittleEndian.PutUint16(p, uint16(min(max(v, 0), math.MaxUint16)))
}

// warp is ImagingGenericTransform of Pillow's Geometry.c with its bilinear and bicubic
// filters, in double precision. What a maps outside of src stays.
func warp[S samples](dst, src view, a *Affine, s S, channels int) {
	for y := range dst.h {
		out := dst.row(y)
		for x := range dst.w {
			mx, my := mapped(&a.Matrix, x, y)
			if !(0 <= mx && mx < float64(src.w) && 0 <= my && my < float64(src.h)) {
				continue
			}
			pixel := out[x*dst.size:][:dst.size]
			if a.Filter == Bilinear {
				bilinear(pixel, src, s, mx-0.5, my-0.5, channels)
			} else {
				bicubic(pixel, src, s, mx-0.5, my-0.5, channels)
			}
		}
	}
}

// bilinear makes pixel the blend of the four around (x, y), where the edge's repeat outside.
func bilinear[S samples](pixel []byte, src view, s S, x, y float64, channels int) {
	fx, fy := math.Floor(x), math.Floor(y)
	dx, dy := x-fx, y-fy
	left, right := clampIndex(int(fx), src.w)*src.size, clampIndex(int(fx)+1, src.w)*src.size
	top, bottom := src.row(clampIndex(int(fy), src.h)), src.row(clampIndex(int(fy)+1, src.h))
	for k := range channels {
		at := k * s.size()
		upper := mix(s.load(top[left+at:]), s.load(top[right+at:]), dx)
		lower := mix(s.load(bottom[left+at:]), s.load(bottom[right+at:]), dx)
		s.store(pixel[at:], mix(upper, lower, dy))
	}
}

// mix goes from a to b by d. The conversion keeps the compiler from fusing.
func mix(a, b, d float64) float64 { return a + float64((b-a)*d) }

// bicubic makes pixel the cubic (a = -1) of the sixteen around (x, y), where the edge's repeat
// outside.
func bicubic[S samples](pixel []byte, src view, s S, x, y float64, channels int) {
	fx, fy := math.Floor(x), math.Floor(y)
	dx, dy := x-fx, y-fy
	var rows [4][]byte
	var columns [4]int
	for i := range 4 {
		rows[i] = src.row(clampIndex(int(fy)-1+i, src.h))
		columns[i] = clampIndex(int(fx)-1+i, src.w) * src.size
	}
	for k := range channels {
		at := k * s.size()
		var v [4]float64
		for i, row := range rows {
			v[i] = cubic(s.load(row[columns[0]+at:]), s.load(row[columns[1]+at:]),
				s.load(row[columns[2]+at:]), s.load(row[columns[3]+at:]), dx)
		}
		s.store(pixel[at:], cubic(v[0], v[1], v[2], v[3], dy))
	}
}

// cubic is Pillow's polynomial through four values, d behind the second.
func cubic(v1, v2, v3, v4, d float64) float64 {
	p2 := -v1 + v3
	p3 := float64(2*(v1-v2)) + v3 - v4
	p4 := -v1 + v2 - v3 + v4
	return v2 + float64(d*(p2+float64(d*(p3+float64(d*p4)))))
}

func clampIndex(i, n int) int { return min(max(i, 0), n-1) }
