package pixeltest

import (
	"encoding/binary"
	"fmt"
	"image"
	"image/color"

	"github.com/disintegration/imaging"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// ReadImage converts img to dst with the size, channels and depth of h. An img of another size is
// an error.
func ReadImage(dst *pixel.Image, img image.Image, h pixel.Header) error {
	if b := img.Bounds(); b.Dx() != h.W || b.Dy() != h.H {
		return fmt.Errorf("%w: %dx%d pixels where the header says %dx%d", pixel.ErrCorrupt, b.Dx(), b.Dy(), h.W, h.H)
	}
	dst.Reset(h.H, h.W, h.C, h.DType)
	switch m := img.(type) {
	case *image.Gray:
		copyRows(dst, m.Pix, m.Stride, 1)
		return nil
	case *image.Gray16:
		copyRows16(dst, m.Pix, m.Stride, 1)
		return nil
	case *image.NRGBA64:
		copyRows16(dst, m.Pix, m.Stride, 4)
		return nil
	case *image.RGBA64: // opaque, or a TIFF's associated alpha, which is kept as it is
		copyRows16(dst, m.Pix, m.Stride, 4)
		return nil
	case *image.RGBA:
		if m.Opaque() {
			copyRows(dst, m.Pix, m.Stride, 4)
			return nil
		}
	case *image.NRGBA:
		copyRows(dst, m.Pix, m.Stride, 4)
		return nil
	case *image.Paletted:
		if dst.C == 3 && dst.DType == formats.Uint8 {
			copyPaletted(dst, m)
			return nil
		}
	case *image.CMYK:
		if dst.C == 3 && dst.DType == formats.Uint8 {
			copyCMYK(dst, m)
			return nil
		}
	}
	n := imaging.Clone(img)
	copyRows(dst, n.Pix, n.Stride, 4)
	return nil
}

// sourceChannel returns which of n source channels is channel c of an image with that many
// channels: 1 (grey), 2 (grey, alpha), 3 or 4.
func sourceChannel(c, channels, n int) int {
	switch {
	case n == 1:
		return 0
	case channels == 2 && c == 1:
		return 3
	}
	return c
}

// copyRows converts rows of 8-bit pixels of n channels to dst's channels and depth.
func copyRows(dst *pixel.Image, pix []byte, stride, n int) {
	for y := range dst.H {
		row, out := pix[y*stride:], dst.Pix[y*dst.Stride():][:dst.Stride()]
		switch {
		case dst.DType == formats.Uint16:
			widenRow(out, row, dst.C, n)
		case dst.C == n:
			copy(out, row)
		case dst.C == 3 && n == 4:
			for ; len(out) >= 3; out, row = out[3:], row[4:] {
				out[0], out[1], out[2] = row[0], row[1], row[2]
			}
		default:
			for i := range out {
				out[i] = row[i/dst.C*n+sourceChannel(i%dst.C, dst.C, n)]
			}
		}
	}
}

// widenRow converts 8 bits to 16: 255 becomes 65535.
func widenRow(out, row []byte, channels, n int) {
	for i := range len(out) / 2 {
		v := row[i/channels*n+sourceChannel(i%channels, channels, n)]
		out[2*i], out[2*i+1] = v, v
	}
}

// copyRows16 is copyRows for 16-bit big-endian pixels.
func copyRows16(dst *pixel.Image, pix []byte, stride, n int) {
	out := dst.Pix
	for y := range dst.H {
		row := pix[y*stride:]
		for x := range dst.W {
			for c := range dst.C {
				v := binary.BigEndian.Uint16(row[2*(x*n+sourceChannel(c, dst.C, n)):])
				if dst.DType == formats.Uint8 {
					out[0] = byte(v >> 8)
					out = out[1:]
					continue
				}
				binary.LittleEndian.PutUint16(out, v)
				out = out[2:]
			}
		}
	}
}

// copyPaletted converts indices to colours without alpha.
func copyPaletted(dst *pixel.Image, m *image.Paletted) {
	var table [256][3]byte
	for i, c := range m.Palette[:min(len(m.Palette), len(table))] {
		n := color.NRGBAModel.Convert(c).(color.NRGBA) // what the model gives
		table[i] = [3]byte{n.R, n.G, n.B}
	}
	for y := range dst.H {
		out := dst.Pix[y*dst.Stride():]
		for x, v := range m.Pix[y*m.Stride:][:dst.W] {
			copy(out[3*x:3*x+3], table[v][:])
		}
	}
}

// copyCMYK converts CMYK to RGB.
func copyCMYK(dst *pixel.Image, m *image.CMYK) {
	for y := range dst.H {
		in := m.Pix[y*m.Stride:]
		out := dst.Pix[y*dst.Stride():]
		for x := range dst.W {
			p := in[4*x : 4*x+4]
			out[3*x], out[3*x+1], out[3*x+2] = fromCMYK(p[0], p[1], p[2], p[3])
		}
	}
}

// fromCMYK converts a pixel as Pillow's Convert.c does.
func fromCMYK(c, m, y, k byte) (r, g, b byte) {
	nk := uint32(255 - k)
	f := func(v byte) byte {
		t := uint32(v)*nk + 128
		return byte(nk - ((t>>8)+t)>>8)
	}
	return f(c), f(m), f(y)
}
