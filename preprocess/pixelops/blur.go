package pixelops

import (
	"fmt"
	"math"

	"github.com/dsconv/dsconv/preprocess/pixel"
)

// blurring is an image on its way through blur or sharpen to dst.
type blurring struct {
	dst, src           pixel.View
	weightsX, weightsY []float32 // from the middle on
	factor             float32
}

// Blur makes dst the part of src (the zero Rect is all of it), convolved with a Gaussian
// kernel of w by h pixels, both odd, and standard deviation sigma, as torchvision's
// gaussian_blur does on PIL images: outside, the part is mirrored at its outermost pixels,
// which must be more than half a kernel. The sums are made in another order than PyTorch's, so
// that a value at the border of two levels may come out 1 off. dst must be another image.
func (e *Enhancer) Blur(dst, src *pixel.Image, part pixel.Rect, w, h int, sigma float64) error {
	b, err := newBlurring(dst, src, part)
	switch {
	case err != nil:
		return err
	case w <= 0 || h <= 0 || w%2 == 0 || h%2 == 0 || !(sigma > 0):
		return fmt.Errorf("blur: kernel of %dx%d pixels with sigma %v: wanted odd sizes and a positive sigma", w, h, sigma)
	case w/2 >= b.src.W || h/2 >= b.src.H:
		return fmt.Errorf("blur: an image of %dx%d pixels is too small for a kernel of %dx%d", b.src.W, b.src.H, w, h)
	}
	e.weights = gaussian(e.weights[:0], w, sigma)
	e.weights = gaussian(e.weights, h, sigma)
	b.weightsX, b.weightsY = e.weights[:w/2+1], e.weights[w/2+1:]
	blur8(e, &b)
	return nil
}

// Sharpen makes dst the part of src (the zero Rect is all of it), blended with its smooth
// version by factor as Pillow's ImageEnhance.Sharpness does, bit for bit: 0 is smooth, 1 the
// image, more is sharper. dst must be another image.
func (e *Enhancer) Sharpen(dst, src *pixel.Image, part pixel.Rect, factor float64) error {
	b, err := newBlurring(dst, src, part)
	if err != nil {
		return err
	}
	b.factor = float32(factor)
	sharpen8(e, &b)
	return nil
}

func newBlurring(dst, src *pixel.Image, part pixel.Rect) (b blurring, err error) {
	if err := checkColors(src); err != nil {
		return b, err
	}
	if part == (pixel.Rect{}) {
		part = pixel.Rect{W: src.W, H: src.H}
	}
	if !part.Inside(src.W, src.H) {
		return b, fmt.Errorf("part %+v is not inside %dx%d", part, src.W, src.H)
	}
	dst.Reset(part.H, part.W, src.C, src.DType)
	return blurring{dst: dst.View(), src: src.View().Crop(part)}, nil
}

// gaussian appends the weights of torchvision's kernel of n pixels, from the middle on.
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
