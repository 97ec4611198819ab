package preprocess

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/dsconv/dsconv/formats"
)

// Affine is a map from the pixels of a result to the places of an image that they show, as
// Pillow's Image.transform(AFFINE) takes it.
type Affine struct {
	// Matrix says that the pixel with its middle at (x, y) shows what lies at
	// (M[0]*x + M[1]*y + M[2], M[3]*x + M[4]*y + M[5]).
	Matrix [6]float64
	// Filter is Nearest, Bilinear or Bicubic. None of them widens where the image shrinks.
	Filter Filter
	// Fill is what lies outside of the image, in the image's own units: one value for all
	// channels or one for each; nil is 0. Fractions are cut off.
	Fill []float64
}

// Check reports a map that Transform cannot carry out on images of c channels.
func (a *Affine) Check(c int) error {
	for _, v := range a.Matrix {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("affine map %v: not all of it are numbers", a.Matrix)
		}
	}
	if a.Filter != Nearest && a.Filter != Bilinear && a.Filter != Bicubic {
		return fmt.Errorf("affine map with filter %q: choose %s, %s or %s", a.Filter, Nearest, Bilinear, Bicubic)
	}
	return CheckFill(a.Fill, c)
}

// Transform makes dst, w by h pixels, what a maps to the part crop of src, as Pillow 13 does
// bit for bit: the part is the whole image, nothing around it counts. The zero crop is all of
// src. uint16 follows Pillow's mode I;16 for Nearest and its mode I for the others, cut to 16
// bits, channel by channel. dst has src's channels and type and must be another image.
func (r *Resampler) Transform(dst, src *Image, crop Rect, a *Affine, w, h int) error {
	if crop == (Rect{}) {
		crop = Rect{W: src.W, H: src.H}
	}
	if err := errors.Join(src.check(), a.Check(src.C)); err != nil {
		return fmt.Errorf("transform: %w", err)
	}
	if !crop.inside(src.W, src.H) || w <= 0 || h <= 0 {
		return fmt.Errorf("transform %+v of %dx%d to %dx%d pixels", crop, src.W, src.H, w, h)
	}
	dst.Reset(h, w, src.C, src.DType)
	dst.Fill(a.Fill)
	part := src.view().crop(crop)
	switch {
	case a.Filter == Nearest:
		r.offsets = grow(r.offsets, w)
		warpNearest(dst.view(), part, a.Matrix, src.DType, r.offsets)
	case hasAlpha(src) && src.DType == formats.Uint8:
		premultiply(&r.pre, src, crop)
		warp(dst.view(), r.pre.view(), a, src.DType)
		unpremultiply(dst)
	default:
		warp(dst.view(), part, a, src.DType)
	}
	return nil
}

// CheckFill reports a fill that images of c channels cannot be filled with.
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

// Fill gives all pixels one value, in the image's own units and cut to what its type holds:
// one value for all channels or one for each; nil is 0.
func (m *Image) Fill(fill []float64) {
	n := m.pixelSize()
	if len(fill) == 0 || len(m.Pix) < n {
		clear(m.Pix)
		return
	}
	for k := range m.C {
		v := fill[min(k, len(fill)-1)]
		if m.DType == formats.Uint16 {
			binary.LittleEndian.PutUint16(m.Pix[2*k:], uint16(min(max(v, 0), math.MaxUint16)))
		} else {
			m.Pix[k] = uint8(min(max(v, 0), math.MaxUint8))
		}
	}
	for filled := n; filled < len(m.Pix); filled *= 2 {
		copy(m.Pix[filled:], m.Pix[:filled])
	}
}
