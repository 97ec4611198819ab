package resample

import (
	"fmt"
	"math"

	"github.com/dsconv/dsconv/formats"
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
// channels and type and must be another image.
func (r *Resampler) Transform(dst, src *pixel.Image, crop pixel.Rect, a *Affine, w, h int) error {
	if crop == (pixel.Rect{}) {
		crop = pixel.Rect{W: src.W, H: src.H}
	}
	of := Mapping{Affine: a, ImageH: crop.H, ImageW: crop.W, H: h, W: w, Region: pixel.Rect{W: w, H: h}}
	return r.TransformRegion(dst, src, crop, &of)
}

// Mapping is an affine transform of an image of which only a part is computed, from a part of the
// image.
type Mapping struct {
	*Affine
	ImageH, ImageW int        // of the whole image
	H, W           int        // of the whole result
	Region         pixel.Rect // what of the result is computed
	Left, Top      int        // where the part of the image begins; see Source
}

// TransformRegion is Transform for the region of m alone: dst becomes exactly that part of the whole
// result. The rectangle part of src holds at least what m.Source returns of the image, from m.Left and
// m.Top on.
func (r *Resampler) TransformRegion(dst, src *pixel.Image, part pixel.Rect, m *Mapping) error {
	if err := checkImages(dst, src); err != nil {
		return fmt.Errorf("transform: %w", err)
	}
	if err := m.Check(src.C); err != nil {
		return fmt.Errorf("transform: %w", err)
	}
	if !part.Inside(src.W, src.H) || !m.Region.Inside(m.W, m.H) || max(m.W, m.H, m.ImageW, m.ImageH) > math.MaxInt32 {
		return fmt.Errorf("transform %+v of %dx%d to %+v of %dx%d pixels", part, src.W, src.H, m.Region, m.W, m.H)
	}
	dst.Reset(m.Region.H, m.Region.W, src.C, src.DType)
	if err := dst.Fill(m.Fill); err != nil {
		return fmt.Errorf("transform: %w", err)
	}
	alpha := m.Filter != pixel.Nearest && hasAlpha(src) && src.DType == formats.Uint8
	in := ViewOf(src).Crop(part)
	if alpha {
		premultiply(&r.pre, src, part)
		in = ViewOf(&r.pre)
	}
	r.warping.set(ViewOf(dst), in, m, src.DType)
	warp(r, &r.warping)
	r.warping = warping{} // the pixels are the caller's
	if alpha {
		unpremultiply(dst)
	}
	return nil
}

// Source is the part of the image that the region of m is computed from, or a larger one.
func (m *Mapping) Source() pixel.Rect {
	all := pixel.Rect{W: m.ImageW, H: m.ImageH}
	if !fitsFixedPoint(m.Matrix, m.W, m.H) {
		return all // what rounding adds up to is not known
	}
	// Fixed point errs by 2^-17 for each pixel to the right and down; filters reach two pixels.
	slack := 3 + float64(m.W+m.H)/(1<<17)
	region, t := m.Region, m.Matrix
	x0, x1 := extent(t[0], t[1], t[2], region)
	y0, y1 := extent(t[3], t[4], t[5], region)
	left, width := between(x0-slack, x1+slack, m.ImageW)
	top, height := between(y0-slack, y1+slack, m.ImageH)
	return pixel.Rect{X: left, Y: top, W: width, H: height}
}

// extent is how far a coordinate a*x + b*y + c goes in a region.
func extent(a, b, c float64, r pixel.Rect) (low, high float64) {
	x0, x1, y0, y1 := float64(r.X), float64(r.X+r.W), float64(r.Y), float64(r.Y+r.H)
	low = min(a*x0, a*x1) + min(b*y0, b*y1) + c
	high = max(a*x0, a*x1) + max(b*y0, b*y1) + c
	return low, high
}

// between is the part of n pixels from low to high, at least one pixel.
func between(low, high float64, n int) (from, size int) {
	last := float64(n - 1)
	from = int(min(max(low, 0), last))
	return from, int(min(max(high, 0), last)) - from + 1
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
