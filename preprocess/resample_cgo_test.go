//go:build cgo

package preprocess

// resizers are what must equal the Go reference.
func resizers(r *Resampler) map[string]resizer {
	return map[string]resizer{
		"fused crop in Go": r.resize8Go,
		"C with AVX2": func(dst, src *Image, crop Rect, hor, ver *coefficients) {
			r.resize8C(dst, src, crop, hor, ver, true)
		},
		"portable C": func(dst, src *Image, crop Rect, hor, ver *coefficients) {
			r.resize8C(dst, src, crop, hor, ver, false)
		},
	}
}
