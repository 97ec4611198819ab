// Package luma computes grey from colours, and colours from CMYK.
package luma

// Of is ITU-R 601-2 in the fixed point of Pillow's Convert.c (L24).
func Of(r, g, b byte) byte { return byte(Sum(uint32(r), uint32(g), uint32(b))) }

// Sum is Of for values of up to 16 bits.
func Sum(r, g, b uint32) uint32 { return (r*19595 + g*38470 + b*7471 + 0x8000) >> 16 }

// FromCMYK converts a pixel as Pillow's Convert.c does.
func FromCMYK(c, m, y, k byte) (r, g, b byte) {
	nk := uint32(255 - k)
	f := func(v byte) byte {
		t := uint32(v)*nk + 128
		return byte(nk - ((t>>8)+t)>>8)
	}
	return f(c), f(m), f(y)
}
