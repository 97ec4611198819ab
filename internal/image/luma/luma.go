// Package luma computes grey from colours.
package luma

// Of is ITU-R 601-2 in the fixed point of Pillow's Convert.c (L24).
func Of(r, g, b byte) byte { return byte(Sum(uint32(r), uint32(g), uint32(b))) }

// Sum is Of for values of up to 16 bits.
func Sum(r, g, b uint32) uint32 { return (r*19595 + g*38470 + b*7471 + 0x8000) >> 16 }
