package pixel

import (
	"encoding/binary"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/luma"
)

// Color chooses the channels that an image is decoded to.
type Color string

// The colour conversions. The zero value is ColorRGB.
const (
	ColorRGB  Color = "rgb"  // 3 channels uint8, as Pillow's convert("RGB"): alpha is dropped
	ColorGray Color = "gray" // 1 channel uint8, as Pillow's convert("L")
	ColorKeep Color = "keep" // the file's channels and depth; palettes and CMYK become RGB
)

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

// Convert writes src in the colours of c to dst, which may be src. Sixteen bits become eight as in
// Pillow: grey values are clipped to 255 (mode I;16), colours keep their high byte. It is an error if
// src is not a valid image or dst is nil.
func (c Color) Convert(dst, src *Image) error {
	src, err := source("convert", dst, src)
	if err != nil {
		return err
	}
	if c.Keeps(Header{C: src.C, DType: src.DType}) {
		dst.Reset(src.H, src.W, src.C, src.DType)
		copy(dst.Pix, src.Pix)
		return nil
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
			dst.Pix[i] = luma.Of(at(j), at(j+1), at(j+2))
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
	return nil
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
