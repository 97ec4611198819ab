package resample

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// write8 writes v, using tables. Tests compare the C kernels with it.
func (t *Target) write8(v View) {
	values := t.Spec.values
	switch t.Spec.dtype {
	case formats.Uint8:
		writePixels(t.Uint8, t, v, func(p []byte, k int) uint8 { return p[k] })
	case formats.Float32:
		writePixels(t.Float32, t, v, func(p []byte, k int) float32 { return math.Float32frombits(values.bits[k][p[k]]) })
	case formats.Uint16:
		writePixels(t.Half, t, v, func(p []byte, k int) uint16 { return 257 * uint16(p[k]) })
	default:
		writePixels(t.Half, t, v, func(p []byte, k int) uint16 { return uint16(values.bits[k][p[k]]) })
	}
}

// write16 is write8 for pixels of 16 bits.
func (t *Target) write16(v View) {
	s := t.Spec
	if s.dtype == formats.Uint16 {
		writePixels(t.Half, t, v, func(p []byte, k int) uint16 { return binary.LittleEndian.Uint16(p[2*k:]) })
		return
	}
	value := func(p []byte, k int) float32 {
		return s.normalize(float32(binary.LittleEndian.Uint16(p[2*k:]))/65535, k)
	}
	if s.dtype == formats.Float32 {
		writePixels(t.Float32, t, v, value)
	} else {
		writePixels(t.Half, t, v, func(p []byte, k int) uint16 { return uint16(s.round(value(p, k))) })
	}
}

// writePixels writes value(pixel, k) for channel k of each pixel.
func writePixels[T any](dst []T, t *Target, v View, value func(pixel []byte, k int) T) {
	c, plane := t.Spec.c, v.W*v.H
	for y := range v.H {
		row := v.Row(y)
		if t.FlipV {
			row = v.Row(v.H - 1 - y)
		}
		for x := range v.W {
			at := y*v.W + x
			if t.Flip {
				at = y*v.W + v.W - 1 - x
			}
			one := row[x*v.Size:][:v.Size]
			for k := range c {
				if t.Spec.layout == pixel.NCHW {
					dst[k*plane+at] = value(one, k)
				} else {
					dst[at*c+k] = value(one, k)
				}
			}
		}
	}
}

// ToFloat16 rounds to the nearest IEEE half, ties to even.
func ToFloat16(x float32) uint16 {
	b := math.Float32bits(x)
	sign, exponent, mantissa := uint16(b>>16)&0x8000, int(b>>23)&0xFF, b&0x7FFFFF
	e := exponent - 127 + 15
	switch {
	case exponent == 0xFF && mantissa != 0:
		return sign | 0x7E00 | uint16(mantissa>>13)
	case e >= 31:
		return sign | 0x7C00
	case e < -10:
		return sign
	case e <= 0: // subnormal
		return sign | uint16(shiftEven(mantissa|1<<23, 14-e))
	}
	return sign | uint16(shiftEven(uint32(e)<<23|mantissa, 13)) // may carry up to infinity
}

// ToBFloat16 rounds to the nearest bfloat16, ties to even.
func ToBFloat16(x float32) uint16 {
	if x != x {
		return 0x7FC0
	}
	return uint16(shiftEven(math.Float32bits(x), 16))
}

// shiftEven is x / 2^n, rounded to the nearest, ties to even.
func shiftEven(x uint32, n int) uint32 {
	q, half := x>>n, uint32(1)<<(n-1)
	if rest := x & (half<<1 - 1); rest > half || rest == half && q&1 == 1 {
		q++
	}
	return q
}

// Erase overwrites the rectangle r of the image that was written to t, whose Region is set. It
// calls value for each element of channel 0, row by row, then of channel 1 and so on, whatever the
// layout. Values are rounded to t's type; for integers they are truncated and clipped to its
// range.
func (t *Target) Erase(r pixel.Rect, value func(channel int) float32) error {
	if !r.Inside(t.Region.W, t.Region.H) {
		return fmt.Errorf("erase %+v of %dx%d", r, t.Region.W, t.Region.H)
	}
	s := t.Spec
	switch s.dtype {
	case formats.Uint8:
		erase(t.Uint8, t, r, func(k int) uint8 { return uint8(min(max(value(k), 0), math.MaxUint8)) })
	case formats.Uint16:
		erase(t.Half, t, r, func(k int) uint16 { return uint16(min(max(value(k), 0), math.MaxUint16)) })
	case formats.Float32:
		erase(t.Float32, t, r, value)
	default:
		erase(t.Half, t, r, func(k int) uint16 { return uint16(s.round(value(k))) })
	}
	return nil
}

func erase[T any](dst []T, t *Target, r pixel.Rect, value func(channel int) T) {
	c, w, h := t.Spec.c, t.Region.W, t.Region.H
	for k := range c {
		for y := r.Y; y < r.Y+r.H; y++ {
			for x := r.X; x < r.X+r.W; x++ {
				at := (y*w+x)*c + k
				if t.Spec.layout == pixel.NCHW {
					at = (k*h+y)*w + x
				}
				dst[at] = value(k)
			}
		}
	}
}

// View is an image, or a rectangle of one, whose rows begin stride bytes apart.
type View struct {
	Pix    []byte // from the first pixel to the end of the buffer
	W, H   int    // in pixels
	Size   int    // of a pixel, in bytes
	Stride int
}

// ViewOf returns the whole image as a View.
func ViewOf(m *pixel.Image) View { return View{m.Pix, m.W, m.H, m.PixelSize(), m.Stride()} }

// Crop returns the rectangle r of v.
func (v View) Crop(r pixel.Rect) View {
	return View{v.Pix[r.Y*v.Stride+r.X*v.Size:], r.W, r.H, v.Size, v.Stride}
}

// Row returns the bytes of row y.
func (v View) Row(y int) []byte { return v.Pix[y*v.Stride:][:v.W*v.Size] }
