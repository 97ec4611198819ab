package pixel

import (
	"image"

	"github.com/dsconv/dsconv/formats"
)

// ToImage returns a copy of m as an image of the standard library: an *image.Gray or *image.Gray16 of one channel, an
// *image.NRGBA or *image.NRGBA64 of more. A nil or invalid m is an image of no pixels.
func (m *Image) ToImage() image.Image {
	if m.Check() != nil {
		return new(image.Gray)
	}
	r, size := image.Rect(0, 0, m.W, m.H), m.DType.Size()
	channels := 4
	if m.C == 1 {
		channels = 1
	}
	pix := make([]byte, m.H*m.W*channels*size)
	for i := range m.H * m.W {
		in, out := m.Pix[i*m.PixelSize():][:m.PixelSize()], pix[i*channels*size:][:channels*size]
		for k := range channels {
			from := k // the channel that channel k shows
			switch {
			case k == 3:
				from = m.C - 1 // alpha
			case m.C < 3:
				from = 0
			}
			for b := range size { // the standard library's samples are big-endian
				out[k*size+b] = in[from*size+size-1-b]
				if k == 3 && m.C == 3 {
					out[k*size+b] = 255
				}
			}
		}
	}
	switch stride := m.W * channels * size; {
	case channels == 1 && m.DType == formats.Uint8:
		return &image.Gray{Pix: pix, Stride: stride, Rect: r}
	case channels == 1:
		return &image.Gray16{Pix: pix, Stride: stride, Rect: r}
	case m.DType == formats.Uint8:
		return &image.NRGBA{Pix: pix, Stride: stride, Rect: r}
	default:
		return &image.NRGBA64{Pix: pix, Stride: stride, Rect: r}
	}
}
