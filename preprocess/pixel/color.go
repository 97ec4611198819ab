package pixel

import (
	"encoding/binary"
	"fmt"

	"github.com/dsconv/dsconv/formats"
)

// Color chooses the channels that an image is decoded to.
type Color string

// The colour conversions. The zero value is ColorRGB.
const (
	ColorRGB  Color = "rgb"  // 3 channels uint8, as Pillow's convert("RGB"): alpha is dropped
	ColorGray Color = "gray" // 1 channel uint8, as Pillow's convert("L")
	ColorKeep Color = "keep" // the file's channels and depth; palettes and CMYK become RGB
)

// ParseColor reads the value of --color.
func ParseColor(s string) (Color, error) {
	switch c := Color(s); c {
	case ColorRGB, ColorGray, ColorKeep:
		return c, nil
	}
	return "", fmt.Errorf("color %q: choose rgb, gray or keep", s)
}

// Channels returns the number of channels of the result for an image of n.
func (c Color) Channels(n int) int {
	switch c {
	case ColorKeep:
		return n
	case ColorGray:
		return 1
	}
	return 3
}

// Keeps reports whether c leaves pixels of a header's channels and type as they are.
func (c Color) Keeps(h Header) bool {
	return c == ColorKeep || h.DType == formats.Uint8 && c.Channels(h.C) == h.C
}

// Convert writes src in the colours of c to dst, another image. Sixteen bits become eight as
// in Pillow: grey values are clipped to 255 (mode I;16), colours keep their high byte.
func (c Color) Convert(dst, src *Image) {
	if c.Keeps(Header{C: src.C, DType: src.DType}) {
		dst.Reset(src.H, src.W, src.C, src.DType)
		copy(dst.Pix, src.Pix)
		return
	}
	dst.Reset(src.H, src.W, c.Channels(src.C), formats.Uint8)
	at := eightBit(src)
	n := src.H * src.W
	switch {
	case dst.C == 1 && src.C < 3:
		for i := range n {
			dst.Pix[i] = at(i * src.C)
		}
	case dst.C == 1:
		for i := range n {
			j := i * src.C
			dst.Pix[i] = Luma(at(j), at(j+1), at(j+2))
		}
	case src.C < 3:
		for i := range n {
			v := at(i * src.C)
			dst.Pix[3*i], dst.Pix[3*i+1], dst.Pix[3*i+2] = v, v, v
		}
	default:
		for i := range n {
			j := i * src.C
			dst.Pix[3*i], dst.Pix[3*i+1], dst.Pix[3*i+2] = at(j), at(j+1), at(j+2)
		}
	}
}

// eightBit returns a function that reads element i of m as 8 bits.
func eightBit(m *Image) func(i int) byte {
	switch {
	case m.DType == formats.Uint8:
		return func(i int) byte { return m.Pix[i] }
	case m.C == 1:
		return func(i int) byte { return byte(min(binary.LittleEndian.Uint16(m.Pix[2*i:]), 255)) }
	}
	return func(i int) byte { return m.Pix[2*i+1] }
}

// Luma is ITU-R 601-2 in the fixed point of Pillow's Convert.c (L24).
func Luma(r, g, b byte) byte { return byte(luma16(uint32(r), uint32(g), uint32(b))) }

// luma16 is luma for values of up to 16 bits.
func luma16(r, g, b uint32) uint32 { return (r*19595 + g*38470 + b*7471 + 0x8000) >> 16 }

// cmykToRGB converts a pixel as Pillow's Convert.c does.
func cmykToRGB(c, m, y, k byte) (r, g, b byte) {
	nk := uint32(255 - k)
	f := func(v byte) byte {
		t := uint32(v)*nk + 128
		return byte(nk - ((t>>8)+t)>>8)
	}
	return f(c), f(m), f(y)
}

// ConvertDeep is convert for pixels that keep their 16 bits. Grey is computed from colours by the
// same sum as at 8 bits.
func (c Color) ConvertDeep(dst, src *Image) {
	dst.Reset(src.H, src.W, c.Channels(src.C), src.DType)
	in, out, le := src.Pix, dst.Pix, binary.LittleEndian
	for range src.H * src.W {
		switch {
		case dst.C == 1 && src.C < 3:
			copy(out[:2], in)
		case dst.C == 1:
			r, g, b := uint32(le.Uint16(in)), uint32(le.Uint16(in[2:])), uint32(le.Uint16(in[4:]))
			le.PutUint16(out, uint16(luma16(r, g, b)))
		case src.C < 3:
			for k := range 3 {
				copy(out[2*k:2*k+2], in)
			}
		default:
			copy(out[:6], in)
		}
		in, out = in[src.PixelSize():], out[dst.PixelSize():]
	}
}
