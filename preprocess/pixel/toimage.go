package pixel

import (
	"encoding/binary"
	"image"
	"image/color"

	"github.com/dsconv/dsconv/formats"
)

// ToImage returns m as an image of the standard library, without a copy: what is written to one is seen
// in the other. It is an *image.Gray (one channel of 8 bits), an *image.NRGBA (four of them), or else
// an image of a type of its own, which is an image.RGBA64Image, so that image/draw reads it fast. A nil
// or invalid m is an image of no pixels.
func (m *Image) ToImage() image.Image {
	if m.Check() != nil {
		return new(image.Gray)
	}
	r := image.Rect(0, 0, m.W, m.H)
	switch {
	case m.DType == formats.Uint8 && m.C == 1:
		return &image.Gray{Pix: m.Pix, Stride: m.Stride(), Rect: r}
	case m.DType == formats.Uint8 && m.C == 4:
		return &image.NRGBA{Pix: m.Pix, Stride: m.Stride(), Rect: r}
	}
	shared := *m // m may get other pixels
	return &sharedImage{shared}
}

// sharedImage is an image.Image in the memory of an Image.
type sharedImage struct{ m Image }

var _ image.RGBA64Image = (*sharedImage)(nil)

func (s *sharedImage) Bounds() image.Rectangle { return image.Rect(0, 0, s.m.W, s.m.H) }

func (s *sharedImage) ColorModel() color.Model {
	switch {
	case s.m.DType == formats.Uint8:
		return color.NRGBAModel
	case s.m.C == 1:
		return color.Gray16Model
	}
	return color.NRGBA64Model
}

func (s *sharedImage) At(x, y int) color.Color {
	c := s.nrgba64(x, y)
	switch {
	case s.m.DType == formats.Uint8:
		return color.NRGBA{uint8(c.R >> 8), uint8(c.G >> 8), uint8(c.B >> 8), uint8(c.A >> 8)}
	case s.m.C == 1:
		return color.Gray16{c.R}
	}
	return c
}

// RGBA64At implements image.RGBA64Image.
func (s *sharedImage) RGBA64At(x, y int) color.RGBA64 {
	c := s.nrgba64(x, y)
	if c.A == 0xffff {
		return color.RGBA64(c)
	}
	r, g, b, a := c.RGBA()
	return color.RGBA64{uint16(r), uint16(g), uint16(b), uint16(a)}
}

// Opaque reports whether no pixel is transparent; encoders ask for it.
func (s *sharedImage) Opaque() bool {
	if s.m.C == 1 || s.m.C == 3 {
		return true
	}
	for y := range s.m.H {
		for x := range s.m.W {
			if s.nrgba64(x, y).A != 0xffff {
				return false
			}
		}
	}
	return true
}

// nrgba64 returns a pixel with all its bits, not premultiplied; black outside the image.
func (s *sharedImage) nrgba64(x, y int) color.NRGBA64 {
	if x < 0 || y < 0 || x >= s.m.W || y >= s.m.H {
		return color.NRGBA64{}
	}
	p := s.m.Pix[y*s.m.Stride()+x*s.m.PixelSize():]
	at := func(k int) uint16 {
		if s.m.DType == formats.Uint16 {
			return binary.LittleEndian.Uint16(p[2*k:])
		}
		return uint16(p[k]) * 0x101
	}
	switch s.m.C {
	case 1:
		return color.NRGBA64{at(0), at(0), at(0), 0xffff}
	case 2:
		return color.NRGBA64{at(0), at(0), at(0), at(1)}
	case 3:
		return color.NRGBA64{at(0), at(1), at(2), 0xffff}
	}
	return color.NRGBA64{at(0), at(1), at(2), at(3)}
}
