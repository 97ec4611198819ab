package resample

import (
	"encoding/binary"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/buffer"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// passes are the two passes of a separable filter.
type passes struct {
	// horizontal scales each row of src to dst's width. Both have the same number of rows.
	horizontal func(dst, src View, c *coefficients)
	// vertical computes the rows of dst from those of src, which has the same width. src begins
	// at row top of the image that the coefficients refer to.
	vertical func(dst, src View, c *coefficients, top int)
}

// run is ImagingResampleInner of Pillow's Resample.c, which rounds between the passes, so that
// their order matters. Nil coefficients keep that size; not both may be nil. tmp is memory for the
// result of the first pass.
func (p passes) run(dst, src View, hor, ver *coefficients, verticalFirst bool, tmp *pixel.Image) {
	between := func(w, h int) View {
		tmp.Pix = buffer.Grow(tmp.Pix, h*w*src.Size)
		return View{Pix: tmp.Pix, W: w, H: h, Size: src.Size, Stride: w * src.Size}
	}
	switch {
	case ver == nil:
		p.horizontal(dst, src, hor)
	case hor == nil:
		p.vertical(dst, src, ver, 0)
	case verticalFirst:
		first := between(src.W, dst.H)
		p.vertical(first, src, ver, 0)
		p.horizontal(dst, first, hor)
	default:
		top, bottom := ver.sourceRange()
		first := between(dst.W, bottom-top)
		p.horizontal(first, src.Crop(pixel.Rect{Y: top, W: src.W, H: bottom - top}), hor)
		p.vertical(dst, first, ver, top)
	}
}

// sourceRegion is the rectangle of src that the rectangle r of the result is computed from: cropped
// in the directions whose size stays, whole in the others.
func sourceRegion(r pixel.Rect, src View, hor, ver *coefficients) pixel.Rect {
	if hor != nil {
		r.X, r.W = 0, src.W
	}
	if ver != nil {
		r.Y, r.H = 0, src.H
	}
	return r
}

// columnsOf returns the coefficients of r's columns, nil if the width stays.
func columnsOf(r pixel.Rect, hor *coefficients) *coefficients {
	if hor == nil || hor.first == r.X && hor.n == r.W {
		return hor
	}
	c := hor.slice(r.X, r.X+r.W)
	return &c
}

// rowsOf returns the coefficients of r's rows, nil if the height stays.
func rowsOf(r pixel.Rect, ver *coefficients) *coefficients {
	if ver == nil || ver.first == r.Y && ver.n == r.H {
		return ver
	}
	c := ver.slice(r.Y, r.Y+r.H)
	return &c
}

// verticalFirst is Pillow's estimate of which order is faster.
func verticalFirst(w, h, toW, toH int) bool {
	return h > toH && h-toH > 2*(w-toW)
}

// premultiply writes the rectangle crop of src to dst with colours multiplied by alpha, as
// Pillow's conversion to La and RGBa does.
func premultiply(dst, src *pixel.Image, crop pixel.Rect) {
	_ = src.Crop(dst, crop) // cannot fail: both were checked
	c := dst.C
	for i := 0; i < len(dst.Pix); i += c {
		p := dst.Pix[i : i+c]
		for j := range p[:c-1] {
			t := uint32(p[j])*uint32(p[c-1]) + 128
			p[j] = byte(((t >> 8) + t) >> 8)
		}
	}
}

// unpremultiply undoes premultiply in place, as Pillow's conversion from La and RGBa does.
func unpremultiply(m *pixel.Image) {
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

// passes16 are ImagingResampleHorizontal_16bpc and Vertical_16bpc of Pillow's Resample.c.
var passes16 = passes{horizontal16, vertical16}

func horizontal16(dst, src View, c *coefficients) {
	for y := range dst.H {
		out, row := dst.Row(y), src.Row(y)
		for x := range dst.W {
			first := int(c.bounds[2*x])
			weigh16(out[x*dst.Size:(x+1)*dst.Size], row[first*src.Size:], c.exactWeights(x), src.Size)
		}
	}
}

func vertical16(dst, src View, c *coefficients, top int) {
	for y := range dst.H {
		first := int(c.bounds[2*y]) - top
		weigh16(dst.Row(y), src.Pix[first*src.Stride:], c.exactWeights(y), src.Stride)
	}
}

// weigh16 sets each element of out to the weighted sum of those at in, in+stride, ...
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

// nearest is ImagingScaleAffine of Pillow's Geometry.c for uint8, and for uint16 its
// generic transform, which rounds a little differently.
func (r *Resampler) nearest(dst, src *pixel.Image, s scaling) {
	dst.Reset(s.region.H, s.region.W, src.C, src.DType)
	r.xs = nearestTable(r.xs, s.horizontal(src.DType))
	r.ys = nearestTable(r.ys, s.vertical(src.DType))
	n, step := src.PixelSize(), src.Stride()
	out := dst.Pix
	for _, y := range r.ys {
		row := src.Pix[(s.crop.Y+int(y))*step+s.crop.X*n:]
		for _, x := range r.xs {
			copy(out[:n], row[int(x)*n:])
			out = out[n:]
		}
	}
}

// nearestTable returns the source pixel of each needed output pixel of the axis.
func nearestTable(t []int32, a axis) []int32 {
	scale := float64(a.to-a.from) / float64(a.out)
	t = t[:0]
	at := float64(a.from) + float64(scale*0.5)
	first, end := a.outputRange()
	for i := range end {
		if a.dtype == formats.Uint16 {
			at = float64((float64(i)+0.5)*scale) + float64(a.from)
		}
		if i >= first {
			t = append(t, int32(min(int(at), a.in-1)))
		}
		at += scale // one by one, as Pillow rounds
	}
	return t
}
