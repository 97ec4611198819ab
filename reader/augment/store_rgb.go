package augment

// The kernels of RGB images are written so that the compiler can leave out all checks of
// bounds but those of the loops.

// rgbToPlanes maps a row of pixels to a row of each plane; r, g and b have one length.
func rgbToPlanes[T any](r, g, b []T, src []byte, mirrored bool, t *[3]table[T]) {
	g, b = g[:len(r)], b[:len(r)]
	if mirrored {
		for i := len(r) - 1; i >= 0 && len(src) >= 3; i-- {
			r[i], g[i], b[i] = t[0][src[0]], t[1][src[1]], t[2][src[2]]
			src = src[3:]
		}
		return
	}
	for i := 0; i < len(r) && len(src) >= 3; i++ {
		r[i], g[i], b[i] = t[0][src[0]], t[1][src[1]], t[2][src[2]]
		src = src[3:]
	}
}

// rgbToPixels maps a row of pixels to a row of pixels.
func rgbToPixels[T any](dst []T, src []byte, mirrored bool, t *[3]table[T]) {
	if mirrored {
		for len(src) >= 3 && len(dst) >= 3 {
			end := len(dst) - 3
			d := dst[end:]
			d[0], d[1], d[2] = t[0][src[0]], t[1][src[1]], t[2][src[2]]
			src, dst = src[3:], dst[:end]
		}
		return
	}
	for len(src) >= 3 && len(dst) >= 3 {
		dst[0], dst[1], dst[2] = t[0][src[0]], t[1][src[1]], t[2][src[2]]
		src, dst = src[3:], dst[3:]
	}
}
