package pixel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"reflect"
	"slices"

	"github.com/disintegration/imaging"

	"github.com/dsconv/dsconv/formats"
)

// FromImage copies an image of the standard library, of any type and bounds. The pixel at
// img.Bounds().Min becomes the first. Grey images get 1 channel, opaque ones 3, others 4 with colours
// that are not premultiplied. Images whose color model has 16 bits per channel become uint16, all others
// uint8. YCbCr and CMYK become RGB as package image/color converts them.
func FromImage(img image.Image) (*Image, error) {
	if err := checkImage(img); err != nil {
		return nil, err
	}
	if shared, ok := img.(*sharedImage); ok {
		m := shared.m
		m.Pix = slices.Clone(m.Pix)
		return &m, nil
	}
	b, m := img.Bounds(), new(Image)
	switch img.ColorModel() {
	case color.GrayModel:
		m.Reset(b.Dy(), b.Dx(), 1, formats.Uint8)
		m.readGray(img)
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

// checkImage returns an error if img is nil, empty or, being of the standard library, has fewer pixels
// than its bounds say.
func checkImage(img image.Image) error {
	if v := reflect.ValueOf(img); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return errors.New("pixel: FromImage of a nil image")
	}
	b := img.Bounds()
	if b.Dx() <= 0 || b.Dy() <= 0 {
		return fmt.Errorf("%w: an image of %dx%d pixels", ErrUnsupported, b.Dx(), b.Dy())
	}
	inside := true
	if p, ok := img.(*image.Paletted); ok && len(p.Pix) > 0 && int(slices.Max(p.Pix)) >= len(p.Palette) {
		return fmt.Errorf("%w: an index of an *image.Paletted is not in its palette of %d colours", ErrCorrupt, len(p.Palette))
	}
	last := b.Max.Sub(image.Pt(1, 1))
	switch m := img.(type) {
	case *image.YCbCr:
		inside = within(m.Y, m.YOffset(b.Min.X, b.Min.Y), m.YOffset(last.X, last.Y)) &&
			within(m.Cb, m.COffset(b.Min.X, b.Min.Y), m.COffset(last.X, last.Y)) && within(m.Cr, 0, m.COffset(last.X, last.Y))
	case interface{ PixOffset(x, y int) int }:
		pix := reflect.Indirect(reflect.ValueOf(img)).FieldByName("Pix")
		if pix.IsValid() && pix.Kind() == reflect.Slice && pix.Type().Elem().Kind() == reflect.Uint8 {
			size := m.PixOffset(b.Min.X+1, b.Min.Y) - m.PixOffset(b.Min.X, b.Min.Y)
			inside = within(pix.Bytes(), m.PixOffset(b.Min.X, b.Min.Y), m.PixOffset(last.X, last.Y)+size-1)
		}
	}
	if !inside {
		return fmt.Errorf("%w: a %T with fewer pixels than its bounds %v", ErrCorrupt, img, b)
	}
	return nil
}

// within reports whether the offsets first and last are in pix.
func within(pix []byte, first, last int) bool { return 0 <= first && first <= last && last < len(pix) }

// channels is 3 for an image that is known to be opaque, else 4.
func channels(img image.Image) int {
	if o, ok := img.(interface{ Opaque() bool }); ok && o.Opaque() {
		return 3
	}
	return 4
}

// readGray copies an image of 8 bits of grey.
func (m *Image) readGray(img image.Image) {
	b := img.Bounds()
	if g, ok := img.(*image.Gray); ok {
		for y := range m.H {
			copy(m.Pix[y*m.W:][:m.W], g.Pix[g.PixOffset(b.Min.X, b.Min.Y+y):])
		}
		return
	}
	for y := range m.H {
		for x := range m.W {
			m.Pix[y*m.W+x] = color.GrayModel.Convert(img.At(b.Min.X+x, b.Min.Y+y)).(color.Gray).Y // what the model gives
		}
	}
}

// readColor copies an image's colours, 8 bits each.
func (m *Image) readColor(img image.Image) {
	switch img.(type) {
	case *image.RGBA, *image.NRGBA, *image.YCbCr, *image.Paletted:
	default:
		m.readEach(img)
		return
	}
	n := imaging.Clone(img) // not premultiplied
	for y := range m.H {
		in, out := n.Pix[y*n.Stride:], m.Pix[y*m.Stride():][:m.Stride()]
		if m.C == 4 {
			copy(out, in)
			continue
		}
		for ; len(out) > 0; in, out = in[4:], out[3:] {
			out[0], out[1], out[2] = in[0], in[1], in[2]
		}
	}
}

// readEach is readColor for images of any type.
func (m *Image) readEach(img image.Image) {
	b, out := img.Bounds(), m.Pix
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA) // what the model gives
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
