// Package resample scales images and rectangles of them, and maps them affinely, as Pillow does, bit for
// bit. A [Resampler] can write to a batch: its last pass flips, normalises and converts the pixels as
// a [TensorSpec] says and writes them to a [Target]. The C kernels have versions for AVX2, AVX-512 and
// any processor. All of them, and the pure-Go version in builds without cgo, give the same bits.
package resample

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/buffer"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// ResamplerName is recorded in recipes that resize: another resampler may give other pixels.
const ResamplerName = "pillow-13"

// Resampler scales images as Image.resize of Pillow 13 does, bit for bit, for every filter.
// Pillow before 13 always scaled horizontally first and then vertically; since 13 the
// vertical pass comes first if the height shrinks by more than twice as many pixels as the width.
// For such images some pixels differ between the two by 1, because of rounding between the passes,
// and by more where bicubic or lanczos overshoot at sharp edges and are clipped between them.
//
// uint8 follows Pillow's fixed-point path; images with alpha (2 or 4 channels) are
// premultiplied for it as Pillow does for LA and RGBA. uint16 follows Pillow's mode I;16,
// channel by channel (Pillow itself has no 16-bit colour).
//
// The zero value is ready. A Resampler keeps scratch memory and recent coefficients and is for one
// goroutine.
type Resampler struct {
	cache     coefficientCache
	job       resampling
	call      *kernelRequest
	warpCall  *warpRequest
	warping   warping
	columns   []int32     // of the affine transform
	scratch   []byte      // of the C kernels
	tmp       pixel.Image // result of the first of two passes
	pre       pixel.Image // premultiplied alpha
	scaled    pixel.Image // scaled image, if the last pass cannot write to the target
	imageSpec TensorSpec  // of a Target that is an image
	xs, ys    []int32
}

// scaling is one resize: area, relative to the corner of crop, is scaled to w by h pixels. Pixels
// outside crop do not count. Only the rectangle region of the result is computed.
type scaling struct {
	crop   pixel.Rect
	area   pixel.Area
	w, h   int
	filter pixel.Filter
	region pixel.Rect
}

// Resize scales the rectangle crop of src to w by h pixels and writes it to dst. It equals cropping
// and then resizing, but reads only the pixels it needs. The zero crop is all of src. dst gets
// src's channels and type and must be another image.
func (r *Resampler) Resize(dst, src *pixel.Image, crop pixel.Rect, w, h int, f pixel.Filter) error {
	return r.resize(dst, src, cropped(src, crop, w, h, f))
}

// ResizeArea scales the area a of src to w by h pixels and writes it to dst, as Image.resize with a
// box does: the edges may lie inside pixels, and pixels around the area count as far as the filter
// reaches. As in Pillow, the edges are rounded to float32.
func (r *Resampler) ResizeArea(dst, src *pixel.Image, a pixel.Area, w, h int, f pixel.Filter) error {
	return r.resize(dst, src, scaling{pixel.Rect{W: src.W, H: src.H}, a, w, h, f, pixel.Rect{W: w, H: h}})
}

// ResizeRegion writes the rectangle region of ResizeArea's result, or of Resize's for the zero Area,
// to dst. It computes nothing else.
func (r *Resampler) ResizeRegion(dst, src *pixel.Image, crop pixel.Rect, a pixel.Area, w, h int, region pixel.Rect, f pixel.Filter) error {
	s := cropped(src, crop, w, h, f)
	if a != (pixel.Area{}) {
		s.crop, s.area = pixel.Rect{W: src.W, H: src.H}, a
	}
	s.region = region
	return r.resize(dst, src, s)
}

// ResizeTo is Resize, but the last pass writes the result, or its rectangle t.Region, to t. It
// computes nothing else.
func (r *Resampler) ResizeTo(t Target, src *pixel.Image, crop pixel.Rect, w, h int, f pixel.Filter) error {
	return r.resizeTo(t, src, cropped(src, crop, w, h, f))
}

// ResizeAreaTo does what ResizeArea does and writes the result to t, as ResizeTo does.
func (r *Resampler) ResizeAreaTo(t Target, src *pixel.Image, a pixel.Area, w, h int, f pixel.Filter) error {
	return r.resizeTo(t, src, scaling{pixel.Rect{W: src.W, H: src.H}, a, w, h, f, pixel.Rect{W: w, H: h}})
}

func (r *Resampler) resizeTo(t Target, src *pixel.Image, s scaling) error {
	if err := s.check(src); err != nil {
		return fmt.Errorf("resize: %w", err)
	}
	if err := cmp.Or(t.check(src.C, s.w, s.h, src.DType), available); err != nil {
		return fmt.Errorf("resize: %w", err)
	}
	s.region = t.Region
	switch {
	case s.isCopy():
		t.Region.X += s.crop.X
		t.Region.Y += s.crop.Y
		r.store(t, src)
	case s.filter == pixel.Nearest || src.DType == formats.Uint16 || hasAlpha(src) || t.Spec.dtype == formats.Uint16:
		r.run(&r.scaled, src, s)
		t.Region = pixel.Rect{W: s.region.W, H: s.region.H}
		r.store(t, &r.scaled)
	default:
		r.pass(t, ViewOf(src).Crop(s.crop), s)
	}
	return nil
}

// StoreTo writes src, or its rectangle t.Region, to t.
func (r *Resampler) StoreTo(t Target, src *pixel.Image) error {
	if err := src.Check(); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if err := cmp.Or(t.check(src.C, src.W, src.H, src.DType), available); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	r.store(t, src)
	return nil
}

func cropped(src *pixel.Image, crop pixel.Rect, w, h int, f pixel.Filter) scaling {
	if crop == (pixel.Rect{}) {
		crop = pixel.Rect{W: src.W, H: src.H}
	}
	return scaling{crop, pixel.Area{X1: float64(crop.W), Y1: float64(crop.H)}, w, h, f, pixel.Rect{W: w, H: h}}
}

func (s *scaling) check(src *pixel.Image) error {
	if err := src.Check(); err != nil {
		return err
	}
	a := s.area
	switch {
	case !s.crop.Inside(src.W, src.H):
		return fmt.Errorf("crop %+v is not inside %dx%d", s.crop, src.W, src.H)
	case !(0 <= a.X0 && a.X0 < a.X1 && a.X1 <= float64(s.crop.W) && 0 <= a.Y0 && a.Y0 < a.Y1 && a.Y1 <= float64(s.crop.H)):
		return fmt.Errorf("area %+v is not inside %dx%d", a, s.crop.W, s.crop.H)
	case s.w <= 0 || s.h <= 0:
		return fmt.Errorf("cannot scale to %dx%d pixels", s.w, s.h)
	case s.w > math.MaxInt32 || s.h > math.MaxInt32:
		return fmt.Errorf("%w: scaled to %dx%d", pixel.ErrTooLarge, s.w, s.h)
	case !s.region.Inside(s.w, s.h):
		return fmt.Errorf("region %+v is not inside %dx%d", s.region, s.w, s.h)
	}
	s.filter = cmp.Or(s.filter, pixel.Bilinear)
	return s.filter.UnmarshalText([]byte(s.filter))
}

// isCopy reports whether the pixels stay as they are.
func (s *scaling) isCopy() bool { return s.keepsWidth() && s.keepsHeight() }

func (s *scaling) keepsWidth() bool {
	return s.w == s.crop.W && s.area.X0 == 0 && s.area.X1 == float64(s.w)
}

func (s *scaling) keepsHeight() bool {
	return s.h == s.crop.H && s.area.Y0 == 0 && s.area.Y1 == float64(s.h)
}

func hasAlpha(m *pixel.Image) bool { return m.C == 2 || m.C == 4 }

func (r *Resampler) resize(dst, src *pixel.Image, s scaling) error {
	if err := s.check(src); err != nil {
		return fmt.Errorf("resize: %w", err)
	}
	if err := checkImages(dst, src); err != nil {
		return fmt.Errorf("resize: %w", err)
	}
	r.run(dst, src, s)
	return nil
}

// checkImages returns an error if dst cannot be written while src is read.
func checkImages(dst, src *pixel.Image) error {
	switch err := src.Check(); {
	case err != nil:
		return err
	case available != nil:
		return available
	case dst == src || buffer.Overlap(dst.Pix, src.Pix):
		return errors.New("the destination shares memory with the source: pass another image")
	}
	return nil
}

// run carries out s from src to dst.
func (r *Resampler) run(dst, src *pixel.Image, s scaling) {
	switch {
	case s.isCopy():
		_ = src.Crop(dst, pixel.Rect{X: s.crop.X + s.region.X, Y: s.crop.Y + s.region.Y, W: s.region.W, H: s.region.H}) // cannot fail: both were checked
		return
	case s.filter == pixel.Nearest:
		r.nearest(dst, src, s)
		return
	}
	dst.Reset(s.region.H, s.region.W, src.C, src.DType)
	in := ViewOf(src).Crop(s.crop)
	if src.DType == formats.Uint16 {
		hor, ver := r.coefficients(s, src.DType)
		in = in.Crop(sourceRegion(s.region, in, hor, ver))
		passes16.run(ViewOf(dst), in, columnsOf(s.region, hor), rowsOf(s.region, ver), s.verticalFirst(), &r.tmp)
		return
	}
	if hasAlpha(src) {
		premultiply(&r.pre, src, s.crop)
		in = ViewOf(&r.pre)
	}
	r.imageSpec = TensorSpec{c: src.C, dtype: formats.Uint8, layout: pixel.NHWC}
	r.pass(Target{Spec: &r.imageSpec, Region: s.region, Uint8: dst.Pix}, in, s)
	if hasAlpha(src) {
		unpremultiply(dst)
	}
}

// resampling is one job of the kernels: uint8 pixels go through the passes to a target.
type resampling struct {
	src           View
	hor, ver      *coefficients // nil where the size stays
	verticalFirst bool
	target        Target
}

// resampler8 carries out a resampling; r has its scratch memory.
type resampler8 func(r *Resampler, j *resampling)

// do carries out j. The job is kept in r, so that it is not allocated.
func (r *Resampler) do(j resampling) {
	r.job = j
	resample8(r, &r.job)
	r.job = resampling{}
}

// pass scales src, whose first pixel is the corner of s.crop.
func (r *Resampler) pass(t Target, src View, s scaling) {
	hor, ver := r.coefficients(s, formats.Uint8)
	r.do(resampling{src, hor, ver, s.verticalFirst(), t})
}

func (r *Resampler) store(t Target, src *pixel.Image) {
	switch {
	case src.DType == formats.Uint16:
		t.write16(ViewOf(src).Crop(t.Region))
		return
	case t.Spec.dtype == formats.Uint16:
		t.write8(ViewOf(src).Crop(t.Region))
		return
	case t.copies(src):
		copy(t.Uint8, ViewOf(src).Crop(t.Region).Pix)
		return
	}
	r.do(resampling{src: ViewOf(src), target: t})
}

// coefficients returns those of both directions, nil where the size stays.
func (r *Resampler) coefficients(s scaling, d formats.DType) (hor, ver *coefficients) {
	if !s.keepsWidth() {
		hor = r.cache.get(s.horizontal(d))
	}
	if !s.keepsHeight() {
		ver = r.cache.get(s.vertical(d))
	}
	return hor, ver
}

func (s *scaling) horizontal(d formats.DType) axis {
	a := axis{in: s.crop.W, from: float32(s.area.X0), to: float32(s.area.X1), out: s.w, filter: s.filter, dtype: d}
	return a.limited(s.region.X, s.region.W)
}

func (s *scaling) vertical(d formats.DType) axis {
	a := axis{in: s.crop.H, from: float32(s.area.Y0), to: float32(s.area.Y1), out: s.h, filter: s.filter, dtype: d}
	return a.limited(s.region.Y, s.region.H)
}

func (s *scaling) verticalFirst() bool { return verticalFirst(s.crop.W, s.crop.H, s.w, s.h) }
