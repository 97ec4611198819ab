package augment

import (
	"math"
	"sync"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess"
)

// hue turns the colours by factor of the circle as torchvision's adjust_hue does on PIL
// images: to Pillow's 8-bit HSV, the hue plus int(factor*255) modulo 256, and back.
func hue(m *preprocess.Image, factor float64) error {
	if m.DType != formats.Uint8 {
		return errEightBit
	}
	if m.C != 3 {
		return nil
	}
	shift := uint8(int(factor * 255))
	q := quotients()
	for p := m.Pix; len(p) >= 3; p = p[3:] {
		h, s, v := toHSV(p[0], p[1], p[2], q)
		p[0], p[1], p[2] = fromHSV(h+shift, s, v)
	}
	return nil
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

// quotients holds x/y at [y][x]: dividing is most of what a pixel costs otherwise.
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

// round is C's round for what is not negative.
func round(x float64) uint8 { return uint8(x + 0.5) }

// sixths says where in the hexagon of hues each 8-bit hue lies: the sector, how far into
// it and how far from its end.
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
