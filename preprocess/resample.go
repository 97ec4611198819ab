package preprocess

import (
	"encoding/binary"
	"fmt"

	"github.com/dsconv/dsconv/formats"
)

// Resampler scales images as Pillow's Image.resize does, bit for bit, for every filter. The
// zero value is ready; it keeps scratch memory and recent coefficients and belongs to one
// goroutine.
type Resampler struct {
	rows   []byte // horizontally scaled rows
	pad    []byte // rows at the end of a buffer, with room to read past them
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
		r.resize16(dst, src, crop, hor, ver)
	case src.C == 2 || src.C == 4:
		premultiply(&r.pre, src, crop)
		r.resize8(dst, &r.pre, Rect{W: crop.W, H: crop.H}, hor, ver)
		unpremultiply(dst)
	default:
		r.resize8(dst, src, crop, hor, ver)
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

// resize16 is ImagingResampleHorizontal_16bpc and Vertical_16bpc of Pillow's Resample.c.
func (r *Resampler) resize16(dst, src *Image, crop Rect, hor, ver *coefficients) {
	n, step := src.pixelSize(), src.stride()
	from, stride := src.Pix[crop.Y*step+crop.X*n:], step
	if hor != nil {
		tmp := r.scratch(crop.H * dst.W * n)
		for y := range crop.H {
			scale16(tmp[y*dst.W*n:], from[y*stride:], dst.W, n, hor)
		}
		from, stride = tmp, dst.W*n
	}
	for y := range dst.H {
		out := dst.Pix[y*dst.stride():][:dst.stride()]
		if ver == nil {
			copy(out, from[y*stride:])
			continue
		}
		first := int(ver.bounds[2*y])
		weigh16(out, from[first*stride:], ver.weights(y), stride)
	}
}

// scale16 scales a row of pixels of size bytes to w pixels.
func scale16(out, row []byte, w, size int, c *coefficients) {
	for x := range w {
		first := int(c.bounds[2*x])
		weigh16(out[x*size:(x+1)*size], row[first*size:], c.weights(x), size)
	}
}

// weigh16 makes each element of out the weighted sum of those at in, in+stride, ...
func weigh16(out, in []byte, weights []float64, stride int) {
	for i := 0; i < len(out); i += 2 {
		sum := 0.0
		for k, w := range weights {
			sum += float64(float64(binary.LittleEndian.Uint16(in[i+k*stride:])) * w)
		}
		if sum >= 0 {
			sum += 0.5
		}
		binary.LittleEndian.PutUint16(out[i:], uint16(min(max(sum, 0), 65535)))
	}
}

// scratch gives n bytes of memory for rows.
func (r *Resampler) scratch(n int) []byte {
	if cap(r.rows) < n {
		r.rows = make([]byte, n)
	}
	return r.rows[:n]
}

// premultiply makes dst the part crop of src with colours multiplied by alpha, as Pillow's
// conversion to La and RGBa.
func premultiply(dst, src *Image, crop Rect) {
	src.crop(dst, crop)
	c := dst.C
	for i := 0; i < len(dst.Pix); i += c {
		p := dst.Pix[i : i+c]
		for j := range p[:c-1] {
			t := uint32(p[j])*uint32(p[c-1]) + 128
			p[j] = byte(((t >> 8) + t) >> 8)
		}
	}
}

// unpremultiply undoes premultiply in place, as Pillow's conversion from La and RGBa.
func unpremultiply(m *Image) {
	c := m.C
	for i := 0; i < len(m.Pix); i += c {
		p := m.Pix[i : i+c]
		a := uint32(p[c-1])
		if a == 0 || a == 255 {
			continue
		}
		for j := range p[:c-1] {
			p[j] = byte(min(255*uint32(p[j])/a, 255))
		}
	}
}
