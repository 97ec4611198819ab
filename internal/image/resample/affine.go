package resample

import (
	"fmt"
	"math"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/buffer"
	"github.com/dsconv/dsconv/internal/image/view"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Affine maps each pixel of a result to a point of the source image, as Pillow's
// Image.transform(AFFINE) does.
type Affine struct {
	// Matrix maps the pixel with its centre at (x, y) to the point
	// (M[0]*x + M[1]*y + M[2], M[3]*x + M[4]*y + M[5]) of the source.
	Matrix [6]float64
	// Filter is Nearest, Bilinear or Bicubic, without antialiasing.
	Filter pixel.Filter
	// Fill is the value outside the image, in the image's own units: one for all channels or
	// one for each; nil is 0. Fractions are truncated.
	Fill []float64
}

// Check returns an error if Transform cannot apply a to images of c channels.
func (a *Affine) Check(c int) error {
	for _, v := range a.Matrix {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("affine matrix %v: all six values must be finite numbers", a.Matrix)
		}
	}
	if a.Filter != pixel.Nearest && a.Filter != pixel.Bilinear && a.Filter != pixel.Bicubic {
		return fmt.Errorf("affine transform with filter %q: choose %s, %s or %s", a.Filter, pixel.Nearest, pixel.Bilinear, pixel.Bicubic)
	}
	return CheckFill(a.Fill, c)
}

// Transform applies a to the rectangle crop of src and writes w by h pixels to dst, equal to
// Pillow 13's bit for bit. The result is that of an image cropped first: pixels outside crop
// do not count. The zero crop is all of src. uint16 follows Pillow's mode I;16 for Nearest and
// its mode I, clipped to 16 bits, for the other filters, channel by channel. dst gets src's
// channels and type; it is an error if it shares memory with src.
func (r *Resampler) Transform(dst, src *pixel.Image, crop pixel.Rect, a *Affine, w, h int) error {
	if err := checkImages(dst, src); err != nil {
		return fmt.Errorf("transform: %w", err)
	}
	if err := a.Check(src.C); err != nil {
		return fmt.Errorf("transform: %w", err)
	}
	if crop == (pixel.Rect{}) {
		crop = pixel.Rect{W: src.W, H: src.H}
	}
	if !crop.Inside(src.W, src.H) || w <= 0 || h <= 0 {
		return fmt.Errorf("transform %+v of %dx%d to %dx%d pixels", crop, src.W, src.H, w, h)
	}
	dst.Reset(h, w, src.C, src.DType)
	if err := dst.Fill(a.Fill); err != nil {
		return fmt.Errorf("transform: %w", err)
	}
	in := view.Of(src).Crop(crop)
	switch {
	case a.Filter == pixel.Nearest:
		r.offsets = buffer.Grow(r.offsets, w)
		warpNearest(view.Of(dst), in, a.Matrix, src.DType, r.offsets)
	case hasAlpha(src) && src.DType == formats.Uint8:
		premultiply(&r.pre, src, crop)
		warp(view.Of(dst), view.Of(&r.pre), a, src.DType)
		unpremultiply(dst)
	default:
		warp(view.Of(dst), in, a, src.DType)
	}
	return nil
}

// CheckFill returns an error if images of c channels cannot be filled with fill.
func CheckFill(fill []float64, c int) error {
	if len(fill) > 1 && len(fill) != c {
		return fmt.Errorf("fill %v: %d values for images of %d channels", fill, len(fill), c)
	}
	for _, v := range fill {
		if math.IsNaN(v) {
			return fmt.Errorf("fill %v: not a number", fill)
		}
	}
	return nil
}
