// Package pixelops changes pixels in place: brightness, contrast, colour, blur, sharpness and the
// blending of two images, as Pillow and torchvision do, bit for bit.
package pixelops

import (
	"fmt"
	"math"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// blurring is one call of Blur or Sharpen.
type blurring struct {
	dst, src           resample.View
	weightsX, weightsY []float32 // of the kernel, from its centre on
	factor             float32
}

// Blur writes the rectangle region of src (the zero Rect is all of it) to dst, convolved with a
// Gaussian kernel of w by h pixels, both odd, and standard deviation sigma, as torchvision's
// gaussian_blur does on PIL images. The region is mirrored at its outermost pixels and must be
// larger than half the kernel. Sums are added in another order than PyTorch's, so that a value
// at a rounding boundary may differ by 1. dst must be another image.
func (e *Enhancer) Blur(dst, src *pixel.Image, region pixel.Rect, w, h int, sigma float64) error {
	b, err := newBlurring(dst, src, region)
	switch {
	case err != nil:
		return err
	case w <= 0 || h <= 0 || w%2 == 0 || h%2 == 0 || !(sigma > 0):
		return fmt.Errorf("blur: kernel of %dx%d pixels with sigma %v: choose odd sizes and a positive sigma", w, h, sigma)
	case w/2 >= b.src.W || h/2 >= b.src.H:
		return fmt.Errorf("blur: an image of %dx%d pixels is too small for a kernel of %dx%d", b.src.W, b.src.H, w, h)
	}
	e.weights = gaussian(e.weights[:0], w, sigma)
	e.weights = gaussian(e.weights, h, sigma)
	b.weightsX, b.weightsY = e.weights[:w/2+1], e.weights[w/2+1:]
	blur8(e, &b)
	return nil
}

// Sharpen writes the rectangle region of src (the zero Rect is all of it) to dst, blended with
// its smoothed version by factor as Pillow's ImageEnhance.Sharpness does, bit for bit: 0 is
// smooth, 1 the image, above 1 sharper. dst must be another image.
func (e *Enhancer) Sharpen(dst, src *pixel.Image, region pixel.Rect, factor float64) error {
	b, err := newBlurring(dst, src, region)
	if err != nil {
		return err
	}
	b.factor = float32(factor)
	sharpen8(e, &b)
	return nil
}

func newBlurring(dst, src *pixel.Image, region pixel.Rect) (b blurring, err error) {
	if err := checkColors(src); err != nil {
		return b, err
	}
	if region == (pixel.Rect{}) {
		region = pixel.Rect{W: src.W, H: src.H}
	}
	if !region.Inside(src.W, src.H) {
		return b, fmt.Errorf("region %+v is not inside %dx%d", region, src.W, src.H)
	}
	dst.Reset(region.H, region.W, src.C, src.DType)
	return blurring{dst: resample.ViewOf(dst), src: resample.ViewOf(src).Crop(region)}, nil
}

// gaussian appends the weights of torchvision's kernel of n pixels, from its centre on.
func gaussian(to []float32, n int, sigma float64) []float32 {
	var sum float32
	from := len(to)
	for x := range n/2 + 1 {
		at := float32(x) / float32(sigma)
		to = append(to, float32(math.Exp(float64(-0.5*float32(at*at)))))
	}
	for k, w := range to[from:] {
		sum += w
		if k > 0 {
			sum += w
		}
	}
	for i := range to[from:] {
		to[from+i] /= sum
	}
	return to
}

// Blend sets each element of dst to dst*weight + other*otherWeight, rounded after each product
// and after the sum, as torch does. other has as many elements.
func Blend(dst, other []float32, weight, otherWeight float32) {
	n := blendFast(formats.Float32, dst, other[:len(dst)], weight, otherWeight)
	blendGo(dst[n:], other[n:], weight, otherWeight)
}

// BlendHalf is Blend for elements of d's type, float16 or bfloat16.
func BlendHalf(d formats.DType, dst, other []uint16, weight, otherWeight float32) {
	n := blendFast(d, dst, other[:len(dst)], weight, otherWeight)
	blendHalfGo(d, dst[n:], other[n:], weight, otherWeight)
}

func blendGo(dst, other []float32, weight, otherWeight float32) {
	for i, x := range dst {
		dst[i] = float32(other[i]*otherWeight) + float32(x*weight)
	}
}

func blendHalfGo(d formats.DType, dst, other []uint16, weight, otherWeight float32) {
	if d == formats.Float16 {
		for i, x := range dst {
			a, b := resample.ToFloat16(fromFloat16(x)*weight), resample.ToFloat16(fromFloat16(other[i])*otherWeight)
			dst[i] = resample.ToFloat16(fromFloat16(a) + fromFloat16(b))
		}
		return
	}
	for i, x := range dst {
		a, b := resample.ToBFloat16(fromBFloat16(x)*weight), resample.ToBFloat16(fromBFloat16(other[i])*otherWeight)
		dst[i] = resample.ToBFloat16(fromBFloat16(a) + fromBFloat16(b))
	}
}

// fromBFloat16 converts a bfloat16.
func fromBFloat16(x uint16) float32 { return math.Float32frombits(uint32(x) << 16) }

// fromFloat16 converts an IEEE half.
func fromFloat16(x uint16) float32 {
	sign, exponent, mantissa := uint32(x&0x8000)<<16, uint32(x>>10&31), uint32(x&0x3FF)
	switch exponent {
	case 31:
		return math.Float32frombits(sign | 0x7F800000 | mantissa<<13)
	case 0:
		v := float32(mantissa) * 0x1p-24
		return math.Float32frombits(sign | math.Float32bits(v))
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | mantissa<<13)
}
