package augment

import "github.com/dsconv/dsconv/preprocess/pixel"

// view is a part of an image, mirrored by flips.
type view struct {
	image  *pixel.Image
	window pixel.Rect
	flips  flips
}

// whole is all of m.
func whole(m *pixel.Image) view {
	return view{image: m, window: pixel.Rect{W: m.W, H: m.H}}
}

// part is the part r of v, which is not mirrored, mirrored by f.
func (v view) part(r pixel.Rect, f flips) view {
	r.X += v.window.X
	r.Y += v.window.Y
	return view{v.image, r, f}
}

// within is the part r of v, counted in the window as it is before it is mirrored; the flips stay.
func (v view) within(r pixel.Rect) view { return v.part(r, v.flips) }

// place copies v into m at (left, top).
func (v view) place(m *pixel.Image, top, left int) {
	pixel := m.C * m.DType.Size()
	for y := range v.window.H {
		src := v.row(y, pixel)
		dst := m.Pix[((top+y)*m.W+left)*pixel:][:len(src)]
		if v.flips.h {
			mirror(dst, src, pixel)
		} else {
			copy(dst, src)
		}
	}
}

// row is row y of the window, not mirrored left to right.
func (v view) row(y, pixel int) []byte {
	if v.flips.v {
		y = v.window.H - 1 - y
	}
	return v.image.Pix[((v.window.Y+y)*v.image.W+v.window.X)*pixel:][:v.window.W*pixel]
}

// mirror copies the pixels of src in reverse order.
func mirror(dst, src []byte, pixel int) {
	for i := 0; i < len(src); i += pixel {
		copy(dst[len(dst)-i-pixel:], src[i:i+pixel])
	}
}

// transpose makes the columns of v, which is not mirrored, the rows of m.
func (v view) transpose(m *pixel.Image) {
	pixel := m.C * m.DType.Size()
	for y := range v.window.H {
		src := v.row(y, pixel)
		for x := range v.window.W {
			copy(m.Pix[(x*m.W+y)*pixel:][:pixel], src[x*pixel:])
		}
	}
}
