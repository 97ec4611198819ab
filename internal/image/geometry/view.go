package geometry

import "github.com/dsconv/dsconv/preprocess/pixel"

// View is a part of an image, mirrored by Flips.
type View struct {
	Image  *pixel.Image
	Window pixel.Rect
	Flips  Flips
}

// whole is all of m.
func whole(m *pixel.Image) View {
	return View{Image: m, Window: pixel.Rect{W: m.W, H: m.H}}
}

// part is the part r of v, which is not mirrored, mirrored by f.
func (v View) part(r pixel.Rect, f Flips) View {
	r.X += v.Window.X
	r.Y += v.Window.Y
	return View{v.Image, r, f}
}

// within is the part r of v, counted in the window as it is before it is mirrored; the flips stay.
func (v View) within(r pixel.Rect) View { return v.part(r, v.Flips) }

// isWhole reports whether v is all of its image, as it is.
func (v View) isWhole() bool {
	return v.Flips == Flips{} && v.Window == pixel.Rect{W: v.Image.W, H: v.Image.H}
}

// place copies v into m at (left, top).
func (v View) place(m *pixel.Image, top, left int) {
	pixel := m.C * m.DType.Size()
	for y := range v.Window.H {
		src := v.row(y, pixel)
		dst := m.Pix[((top+y)*m.W+left)*pixel:][:len(src)]
		if v.Flips.H {
			mirror(dst, src, pixel)
		} else {
			copy(dst, src)
		}
	}
}

// row is row y of the window, not mirrored left to right.
func (v View) row(y, pixel int) []byte {
	if v.Flips.V {
		y = v.Window.H - 1 - y
	}
	return v.Image.Pix[((v.Window.Y+y)*v.Image.W+v.Window.X)*pixel:][:v.Window.W*pixel]
}

// mirror copies the pixels of src in reverse order.
func mirror(dst, src []byte, pixel int) {
	for i := 0; i < len(src); i += pixel {
		copy(dst[len(dst)-i-pixel:], src[i:i+pixel])
	}
}

// transpose makes the columns of v, which is not mirrored, the rows of m.
func (v View) transpose(m *pixel.Image) {
	pixel := m.C * m.DType.Size()
	for y := range v.Window.H {
		src := v.row(y, pixel)
		for x := range v.Window.W {
			copy(m.Pix[(x*m.W+y)*pixel:][:pixel], src[x*pixel:])
		}
	}
}
