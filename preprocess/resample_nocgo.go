//go:build !cgo

package preprocess

func (r *Resampler) resize8(dst, src *Image, crop Rect, hor, ver *coefficients) {
	r.resize8Go(dst, src, crop, hor, ver)
}
