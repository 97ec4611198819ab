package codec

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/dsconv/dsconv/internal/image/exif"

	"github.com/dsconv/dsconv/internal/image/luma"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// tiffUnpacker turns samples as libtiff returns them into pixels, as Pillow does.
type tiffUnpacker struct {
	*tiffKind
	raw     []byte
	palette [][3]byte // of tiffPalette
	indices bool      // leave indices of the palette
	lost    string    // values that are no integers from 0 to 65535, which 16 bits do not hold; "" if there are none
}

// direct reports whether the raw samples are the pixels.
func (k *tiffKind) direct() bool {
	if k.planes > 1 || k.inverted || k.samples != k.channels() {
		return false
	}
	switch k.colors {
	case tiffGray, tiffColor, tiffColorA:
		return k.bits == 8 || k.bits == 16 && binary.NativeEndian.Uint16([]byte{1, 0}) == 1
	case tiffAlpha, tiffFromJPEG:
		return true
	}
	return false
}

// unpack writes the pixels to dst, whose size and type are those of the header. (With indices it has one channel.)
func (u *tiffUnpacker) unpack(dst *pixel.Image) {
	for y := range int(u.h) {
		out := dst.Pix[y*dst.Stride():][:dst.Stride()]
		switch {
		case u.colors == tiffPalette:
			u.lookUp(out, y)
		case u.colors == tiffCMYK:
			u.fromCMYK(out, y)
		case u.colors == tiffYCbCr:
			u.fromYCbCr(out, y)
		case u.colors == tiffColorPre:
			u.divideAlpha(out, y)
		case dst.C == 1:
			u.gray(out, y)
		default:
			u.copyChannels(out, y, dst.C, dst.DType.Size())
		}
	}
}

// row returns row y of a plane.
func (u *tiffUnpacker) row(plane, y int) []byte {
	n := u.rowBytes()
	return u.raw[(uint64(plane)*u.h+uint64(y))*n:][:n]
}

// at returns where sample s of the pixel x of row y lies: whole bytes.
func (u *tiffUnpacker) at(s, x, y int) []byte {
	size := u.bits / 8
	if u.planes > 1 {
		return u.row(s, y)[x*size:]
	}
	return u.row(0, y)[(x*u.samples+s)*size:]
}

// high returns the high byte of a sample of 8 or 16 bits.
func (u *tiffUnpacker) high(s, x, y int) byte {
	b := u.at(s, x, y)
	if u.bits == 16 {
		return byte(binary.NativeEndian.Uint16(b) >> 8)
	}
	return b[0]
}

// packed returns the first sample of pixel x of row y, of 1, 2, 4 or 8 bits.
func (u *tiffUnpacker) packed(x, y int) byte {
	if u.bits == 8 {
		return u.at(0, x, y)[0]
	}
	bit := x * u.bits
	return u.row(0, y)[bit/8] >> (8 - u.bits - bit%8) & (1<<u.bits - 1)
}

func (u *tiffUnpacker) lookUp(out []byte, y int) {
	for x := range int(u.w) {
		i := u.packed(x, y)
		if u.indices {
			out[x] = i
			continue
		}
		if int(i) < len(u.palette) {
			copy(out[3*x:3*x+3], u.palette[i][:])
		} else {
			clear(out[3*x : 3*x+3])
		}
	}
}

func (u *tiffUnpacker) fromCMYK(out []byte, y int) {
	for x := range int(u.w) {
		out[3*x], out[3*x+1], out[3*x+2] = luma.FromCMYK(u.high(0, x, y), u.high(1, x, y), u.high(2, x, y), u.high(3, x, y))
	}
}

// fromYCbCr converts as Pillow's ConvertYCbCr.c does: in steps of a 64th, rounded by truncation.
func (u *tiffUnpacker) fromYCbCr(out []byte, y int) {
	part := func(factor float64, v byte) int { return int(factor*float64(int(v)-128)*64 + 0.5) }
	for x := range int(u.w) {
		if u.samples == 1 {
			v := u.high(0, x, y)
			out[3*x], out[3*x+1], out[3*x+2] = v, v, v
			continue
		}
		bright, cb, cr := int(u.high(0, x, y)), u.high(1, x, y), u.high(2, x, y)
		out[3*x] = clipByte(bright + part(1.40200, cr)>>6)
		out[3*x+1] = clipByte(bright + (part(-0.34414, cb)+part(-0.71414, cr))>>6)
		out[3*x+2] = clipByte(bright + part(1.77200, cb)>>6)
	}
}

func clipByte(v int) byte { return byte(min(max(v, 0), 255)) }

// divideAlpha divides alpha out of high bytes.
func (u *tiffUnpacker) divideAlpha(out []byte, y int) {
	for x := range int(u.w) {
		p, alpha := out[4*x:4*x+4], int(u.high(3, x, y))
		p[3] = byte(alpha)
		for c := range 3 {
			switch v := int(u.high(c, x, y)); alpha {
			case 0:
				p[c] = 0
			case 255:
				p[c] = byte(v)
			default:
				p[c] = clipByte(v * 255 / alpha)
			}
		}
	}
}

// copyChannels copies the samples of pixels of several channels, without those that are not used.
func (u *tiffUnpacker) copyChannels(out []byte, y, channels, size int) {
	for x := range int(u.w) {
		for c := range channels {
			if to := out[(x*channels+c)*size:]; size == 2 {
				binary.LittleEndian.PutUint16(to, binary.NativeEndian.Uint16(u.at(c, x, y)))
			} else {
				to[0] = u.at(c, x, y)[0]
			}
		}
	}
}

// gray unpacks one grey sample.
func (u *tiffUnpacker) gray(out []byte, y int) {
	if u.bits > 8 {
		u.deepGray(out, y)
		return
	}
	scale, mask := 255/(1<<u.bits-1), byte(0)
	if u.inverted {
		mask = 255
	}
	for x := range int(u.w) {
		out[x] = byte(int(u.packed(x, y))*scale) ^ mask
	}
}

// deepGray unpacks a grey sample of more than 8 bits to 16.
func (u *tiffUnpacker) deepGray(out []byte, y int) {
	native, row := binary.NativeEndian, u.row(0, y)
	for x := range int(u.w) {
		var v float64
		switch {
		case u.bits == 12:
			v = float64(twelveBits(row, x))
		case u.colors == tiffFloat:
			v = float64(math.Float32frombits(native.Uint32(row[4*x:])))
		case u.bits == 16 && u.colors == tiffSigned:
			v = float64(int16(native.Uint16(row[2*x:])))
		case u.bits == 16:
			v = float64(native.Uint16(row[2*x:]))
		default: // Pillow keeps 32 bits in an int32
			v = float64(int32(native.Uint32(row[4*x:])))
		}
		binary.LittleEndian.PutUint16(out[2*x:], u.sixteen(v))
	}
}

// sixteen returns v as 16 bits, and notes what does not fit.
func (u *tiffUnpacker) sixteen(v float64) uint16 {
	if (v != math.Trunc(v) || v < 0 || v > math.MaxUint16) && u.lost == "" {
		u.lost = lostValue(v)
	}
	switch {
	case v >= math.MaxUint16:
		return math.MaxUint16
	case v > 0:
		return uint16(v)
	}
	return 0 // also what is no number
}

// lostValue names what 16 bits do not hold.
func lostValue(v float64) string {
	switch {
	case v < 0:
		return "negative values"
	case v > math.MaxUint16:
		return "values above 65535"
	}
	return "values that are no integers"
}

// noteCut notes colours of 16 bits of which the high bytes alone are computed with. (Samples whose two bytes are equal
// were 8 bits before.)
func (u *tiffUnpacker) noteCut() {
	if u.bits != 16 || u.colors != tiffCMYK && u.colors != tiffColorPre {
		return
	}
	for i := 0; i+1 < len(u.raw); i += 2 {
		if u.raw[i] != u.raw[i+1] {
			u.lost = "16 bits per channel"
			return
		}
	}
}

// kept returns an error if the image's values are to be kept and cannot be.
func (u *tiffUnpacker) kept(o DecodeOptions) error {
	if u.lost == "" || o.Color != pixel.ColorKeep && !o.Deep {
		return nil
	}
	if u.colors == tiffCMYK || u.colors == tiffColorPre {
		return fmt.Errorf("%w: a TIFF of %s with %s, of which 8 can be read", pixel.ErrUnsupported, u.colors, u.lost)
	}
	return fmt.Errorf("%w: a TIFF of %s with %s, which integers of 16 bits do not hold; as 8 bits, clipped as by Pillow, it can be read",
		pixel.ErrUnsupported, u.colors, u.lost)
}

// narrowed says what an image of 8 bits has lost, "" if narrowed of its pixels decides.
func (u *tiffUnpacker) narrowed() string {
	switch {
	case u.lost == "":
		return ""
	case u.colors == tiffCMYK || u.colors == tiffColorPre:
		return narrowedTIFF
	case u.colors == tiffFloat:
		return narrowedFloats
	}
	return narrowedIntegers
}

// twelveBits is sample x of a row of 12 bits.
func twelveBits(row []byte, x int) uint16 {
	i := x / 2 * 3
	if x%2 == 0 {
		return uint16(row[i])<<4 | uint16(row[i+1])>>4
	}
	return uint16(row[i+1]&15)<<8 | uint16(row[i+2])
}

// tiffPaletteOf reads the colours of a palette. Pillow keeps their high bytes.
func tiffPaletteOf(t *exif.Tags) ([][3]byte, error) {
	values, err := t.List(tagColorMap)
	if err != nil {
		return nil, err
	}
	n := len(values) / 3
	if n == 0 {
		return nil, errNoColorMap
	}
	colors := make([][3]byte, min(n, 256))
	for i := range colors {
		for c := range 3 {
			colors[i][c] = byte(values[c*n+i] >> 8)
		}
	}
	return colors, nil
}
