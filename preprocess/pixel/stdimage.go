package pixel

import (
	"encoding/binary"
	"fmt"
	"image"
	"image/color"

	"github.com/dsconv/dsconv/formats"
)

// FromImage copies an image of the standard library, of any type and bounds. The pixel at
// img.Bounds().Min becomes the first. Grey images get 1 channel, opaque ones 3, others 4 with colours
// that are not premultiplied. Images whose color model has 16 bits per channel become uint16, all others
// uint8. YCbCr and CMYK become RGB as package image/color converts them.
func FromImage(img image.Image) (m *Image, err error) {
	defer func() {
		if p := recover(); p != nil { // it is nil, or has fewer pixels or colours than it says
			m, err = nil, fmt.Errorf("%w: a %T: %v", ErrCorrupt, img, p)
		}
	}()
	b := img.Bounds()
	if b.Dx() <= 0 || b.Dy() <= 0 {
		return nil, fmt.Errorf("%w: an image of %dx%d pixels", ErrUnsupported, b.Dx(), b.Dy())
	}
	m = new(Image)
	switch img.ColorModel() {
	case color.GrayModel:
		m.Reset(b.Dy(), b.Dx(), 1, formats.Uint8)
		m.readColor(img)
	case color.Gray16Model:
		m.Reset(b.Dy(), b.Dx(), 1, formats.Uint16)
		m.readDeep(img)
	case color.RGBA64Model, color.NRGBA64Model, color.Alpha16Model:
		m.Reset(b.Dy(), b.Dx(), channels(img), formats.Uint16)
		m.readDeep(img)
	default:
		m.Reset(b.Dy(), b.Dx(), channels(img), formats.Uint8)
		m.readColor(img)
	}
	return m, nil
}

// channels is 3 for an image that is known to be opaque, else 4.
func channels(img image.Image) int {
	if o, ok := img.(interface{ Opaque() bool }); ok && o.Opaque() {
		return 3
	}
	return 4
}

// readColor copies an image's colours, 8 bits each.
func (m *Image) readColor(img image.Image) {
	at := func(x, y int) color.NRGBA {
		return color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA) // what the model gives
	}
	switch in := img.(type) {
	case *image.NRGBA:
		at = in.NRGBAAt
	case *image.RGBA:
		if m.C == 3 { // opaque
			at = func(x, y int) color.NRGBA { return color.NRGBA(in.RGBAAt(x, y)) }
		}
	}
	b, out := img.Bounds(), m.Pix
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c := at(x, y)
			out = out[copy(out, []byte{c.R, c.G, c.B, c.A}[:m.C]):]
		}
	}
}

// readDeep copies 16 bits per channel.
func (m *Image) readDeep(img image.Image) {
	b, out := img.Bounds(), m.Pix
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c := color.NRGBA64Model.Convert(img.At(x, y)).(color.NRGBA64) // what the model gives
			for _, v := range []uint16{c.R, c.G, c.B, c.A}[:m.C] {
				binary.LittleEndian.PutUint16(out, v)
				out = out[2:]
			}
		}
	}
}

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
