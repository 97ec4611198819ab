//go:build cgo

package pixelops

import (
	"math"
	"sync"

	"github.com/dsconv/dsconv/internal/image/luma"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// enhanceGo is the pure-Go version of the C kernels: their tests compare with it, and builds
// without cgo use it. The blends are those of Pillow's ImageEnhance: the image is blended with
// black, the mean grey or its own grey version, in float32 and rounded towards zero as
// ImagingBlend does.
func enhanceGo(_ *Enhancer, m *pixel.Image, list []Enhancement) {
	for _, e := range list {
		switch f := float32(e.Factor); e.Change {
		case Brightness:
			blendAll(m.Pix, 0, f)
		case Contrast:
			blendAll(m.Pix, meanLuma(m.Pix), f)
		case Saturation:
			for p := m.Pix; len(p) >= 3; p = p[3:] {
				blendAll(p[:3], luma.Of(p[0], p[1], p[2]), f)
			}
		case Hue:
			turnHue(m.Pix, hueShift(e.Factor))
		default:
			for p := m.Pix; len(p) >= 3; p = p[3:] {
				grey := luma.Of(p[0], p[1], p[2])
				p[0], p[1], p[2] = grey, grey, grey
			}
		}
	}
}

func blendAll(p []byte, grey uint8, factor float32) {
	for i, v := range p {
		p[i] = blend(grey, v, factor)
	}
}

func meanLuma(p []byte) uint8 {
	var sum uint64
	n := len(p) / 3
	for ; len(p) >= 3; p = p[3:] {
		sum += uint64(luma.Of(p[0], p[1], p[2]))
	}
	return uint8(float64(sum)/float64(n) + 0.5)
}

// turnHue converts to Pillow's 8-bit HSV, adds shift to the hue and converts back.
func turnHue(pix []byte, shift uint8) {
	q := quotients()
	for p := pix; len(p) >= 3; p = p[3:] {
		h, s, v := toHSV(p[0], p[1], p[2], q)
		p[0], p[1], p[2] = fromHSV(h+shift, s, v)
	}
}

// toHSV is Pillow's rgb2hsv (Convert.c, after Python's colorsys), with its mix of float
// and double; q is quotients().
func toHSV(r, g, b uint8, q *[256][256]float32) (h, s, v uint8) {
	high, low := max(r, g, b), min(r, g, b)
	if high == low {
		return 0, 0, high
	}
	span := &q[high-low]
	rc, gc, bc := span[high-r], span[high-g], span[high-b]
	var sixth float32
	switch high {
	case r:
		sixth = bc - gc
	case g:
		sixth = float32(2 + float64(rc) - float64(bc))
	default:
		sixth = float32(4 + float64(gc) - float64(rc))
	}
	turn := float64(sixth)/6 + 1 // in [5/6, 2): the remainder by 1 is one subtraction
	if turn >= 1 {
		turn--
	}
	return uint8(float64(float32(turn)) * 255), uint8(float64(q[high][high-low]) * 255), high
}

// quotients holds x/y at [y][x]: division would be most of the cost of a pixel.
var quotients = sync.OnceValue(func() *[256][256]float32 {
	q := new([256][256]float32)
	for y := 1; y < 256; y++ {
		for x := range 256 {
			q[y][x] = float32(x) / float32(y)
		}
	}
	return q
})

// fromHSV is Pillow's hsv2rgb.
func fromHSV(h, s, v uint8) (r, g, b uint8) {
	if s == 0 {
		return v, v, v
	}
	sixth := sixths[h]
	fs, fv := float64(float32(float64(s)/255)), float64(v)
	p := round(fv * (1 - fs))
	switch sixth.sector {
	case 0:
		return v, round(fv * (1 - fs*sixth.rest)), p
	case 1:
		return round(fv * (1 - fs*sixth.part)), v, p
	case 2:
		return p, v, round(fv * (1 - fs*sixth.rest))
	case 3:
		return p, round(fv * (1 - fs*sixth.part)), v
	case 4:
		return round(fv * (1 - fs*sixth.rest)), p, v
	default:
		return v, p, round(fv * (1 - fs*sixth.part))
	}
}

// round is C's round for values that are not negative.
func round(x float64) uint8 { return uint8(x + 0.5) }

// sixths are the position of each 8-bit hue in the hexagon of hues: the sector, the distance from
// its start and the distance to its end.
var sixths = func() (t [256]struct {
	sector     uint8
	part, rest float64
},
) {
	for h := range t {
		at := float64(h) * 6 / 255
		i := math.Floor(at)
		part := float64(float32(at - i))
		t[h].sector = uint8(int(i) % 6)
		t[h].part, t[h].rest = part, 1-part
	}
	return t
}()

// countGo counts the values of each of m's channels.
func countGo(m *pixel.Image, counts *[3]histogram) {
	clear(counts[:m.C])
	for i, v := range m.Pix {
		counts[i%m.C][v]++
	}
}

// replaceGo replaces each value by its channel's table.
func replaceGo(m *pixel.Image, tables *[3]table) {
	for i, v := range m.Pix {
		m.Pix[i] = tables[i%m.C][v]
	}
}
