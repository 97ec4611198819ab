package resample

import (
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

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
