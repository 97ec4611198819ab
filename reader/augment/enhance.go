package augment

import (
	"errors"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess"
)

// The adjustments are those of Pillow's ImageEnhance: a blend of the image with a
// degenerate one (black; the mean grey; its own grey version), in float32 and rounded
// towards zero as ImagingBlend rounds.

var errEightBit = errors.New("colors can be jittered only at 8 bits a channel")

func brightness(m *preprocess.Image, factor float64) error {
	return blendWith(m, 0, factor)
}

func contrast(m *preprocess.Image, factor float64) error {
	if len(m.Pix) == 0 {
		return nil
	}
	var sum uint64
	if m.C == 3 {
		for p := m.Pix; len(p) >= 3; p = p[3:] {
			sum += uint64(luma(p[0], p[1], p[2]))
		}
	} else {
		for _, v := range m.Pix {
			sum += uint64(v)
		}
	}
	mean := float64(sum) / float64(m.H*m.W)
	return blendWith(m, uint8(mean+0.5), factor)
}

// blendWith blends an even grey with the image.
func blendWith(m *preprocess.Image, grey uint8, factor float64) error {
	if m.DType != formats.Uint8 {
		return errEightBit
	}
	var t [256]uint8
	for x := range t {
		t[x] = blend(grey, uint8(x), float32(factor))
	}
	for i, v := range m.Pix {
		m.Pix[i] = t[v]
	}
	return nil
}

func saturation(m *preprocess.Image, factor float64) error {
	if m.DType != formats.Uint8 {
		return errEightBit
	}
	if m.C != 3 {
		return nil
	}
	f := float32(factor)
	for p := m.Pix; len(p) >= 3; p = p[3:] {
		grey := luma(p[0], p[1], p[2])
		p[0], p[1], p[2] = blend(grey, p[0], f), blend(grey, p[1], f), blend(grey, p[2], f)
	}
	return nil
}

// luma is Pillow's L of an RGB pixel: ITU-R 601-2 in 16 bits of fixed point.
func luma(r, g, b uint8) uint8 {
	return uint8((uint32(r)*19595 + uint32(g)*38470 + uint32(b)*7471 + 0x8000) >> 16)
}

// blend goes from a to b and, for a factor above 1, beyond. The conversions keep the
// compiler from fusing the product into the sum.
func blend(a, b uint8, factor float32) uint8 {
	v := float32(a) + float32(factor*float32(int32(b)-int32(a)))
	return uint8(max(0, min(int32(v), 255)))
}
