package preprocess

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
)

// ResamplerName is what a recipe records of how pixels are resized: another resampler may
// give other pixels.
const ResamplerName = "pillow-13"

// Resampler scales images as Image.resize of Pillow 13 does, bit for bit, for every filter.
// Pillow before 13 always scaled horizontally first and then vertically; since 13 the
// vertical pass comes first where the height shrinks by more than twice what the width does.
// Rounding in between makes some pixels of such images differ by 1 between the two, and by
// more where bicubic or lanczos overshoot at sharp edges, which is cut off in between.
//
// The zero value is ready; it keeps scratch memory and recent coefficients and belongs to
// one goroutine.
type Resampler struct {
	tmp    []byte // what the first of two passes gives
	pad    []byte // rows that have no room after them where they are
	pre    Image  // premultiplied alpha
	cache  map[axis]*coefficients
	xs, ys []int32
}

// axis is what coefficients depend on.
type axis struct {
	in, out int
	filter  Filter
	dtype   formats.DType
}

// maxCached bounds the cache. Random crops of one output size need an entry for each side
// length, of some 5 KB.
const maxCached = 512

// Resize makes dst the part crop of src, scaled to w by h pixels: the same as first to crop
// and then to resize, but only what is needed is read. The zero crop is all of src. dst has
// src's channels and type and must be another image.
//
// uint8 follows Pillow's fixed-point path; images with alpha (2 or 4 channels) are
// premultiplied for it as Pillow does for LA and RGBA. uint16 follows Pillow's mode I;16,
// channel by channel (Pillow itself has no 16-bit colour).
func (r *Resampler) Resize(dst, src *Image, crop Rect, w, h int, f Filter) error {
	if crop == (Rect{}) {
		crop = Rect{W: src.W, H: src.H}
	}
	if err := src.check(); err != nil {
		return fmt.Errorf("resize: %w", err)
	}
	switch {
	case crop.X < 0 || crop.Y < 0 || crop.W <= 0 || crop.H <= 0 || crop.W > src.W-crop.X || crop.H > src.H-crop.Y:
		return fmt.Errorf("resize: crop %+v is not inside %dx%d", crop, src.W, src.H)
	case w <= 0 || h <= 0:
		return fmt.Errorf("resize: to %dx%d pixels", w, h)
	}
	if _, err := ParseFilter(string(f)); err != nil {
		return fmt.Errorf("resize: %w", err)
	}
	switch {
	case w == crop.W && h == crop.H:
		src.crop(dst, crop)
		return nil
	case f == Nearest:
		r.nearest(dst, src, crop, w, h)
		return nil
	}
	hor, ver := r.axis(crop.W, w, f, src.DType), r.axis(crop.H, h, f, src.DType)
	dst.Reset(h, w, src.C, src.DType)
	switch {
	case src.DType == formats.Uint16:
		r.resample(dst.view(), src.view().crop(crop), hor, ver, passes16)
	case src.C == 2 || src.C == 4:
		premultiply(&r.pre, src, crop)
		r.resample(dst.view(), r.pre.view(), hor, ver, passes8)
		unpremultiply(dst)
	default:
		r.resample(dst.view(), src.view().crop(crop), hor, ver, passes8)
	}
	return nil
}

// axis gives the coefficients of one direction, nil where the size stays.
func (r *Resampler) axis(in, out int, f Filter, d formats.DType) *coefficients {
	if in == out {
		return nil
	}
	key := axis{in, out, f, d}
	if c := r.cache[key]; c != nil {
		return c
	}
	if r.cache == nil || len(r.cache) >= maxCached {
		r.cache = make(map[axis]*coefficients, maxCached)
	}
	c := newCoefficients(in, out, kernels[f], d)
	r.cache[key] = c
	return c
}

// nearest is ImagingScaleAffine of Pillow's Geometry.c for uint8, and for uint16 its
// generic transform, which rounds a little differently.
func (r *Resampler) nearest(dst, src *Image, crop Rect, w, h int) {
	dst.Reset(h, w, src.C, src.DType)
	r.xs = nearestTable(r.xs, crop.W, w, src.DType)
	r.ys = nearestTable(r.ys, crop.H, h, src.DType)
	n, step := src.pixelSize(), src.stride()
	out := dst.Pix
	for _, y := range r.ys {
		row := src.Pix[(crop.Y+int(y))*step+crop.X*n:]
		for _, x := range r.xs {
			copy(out[:n], row[int(x)*n:])
			out = out[n:]
		}
	}
}

// nearestTable gives the source pixel of each of out pixels.
func nearestTable(t []int32, in, out int, d formats.DType) []int32 {
	scale := float64(in) / float64(out)
	t = t[:0]
	at := scale * 0.5
	for i := range out {
		if d == formats.Uint16 {
			at = float64((float64(i) + 0.5) * scale)
		}
		t = append(t, int32(min(int(at), in-1)))
		at += scale
	}
	return t
}
