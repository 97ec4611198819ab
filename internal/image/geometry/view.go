package geometry

import (
	"math"

	"github.com/dsconv/dsconv/preprocess/pixel"
)

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

// PadMode says what borders are filled with, as torchvision's padding_mode does.
type PadMode string

// The modes of padding; "" is PadConstant.
const (
	PadConstant  PadMode = "constant"  // a value
	PadEdge      PadMode = "edge"      // the pixel at the edge
	PadReflect   PadMode = "reflect"   // the image mirrored at its outermost pixels
	PadSymmetric PadMode = "symmetric" // the image mirrored at its edges
)

// Border is where an image lies in a larger one, and what is around it.
type Border struct {
	Left, Top int
	Mode      PadMode
	Fill      []float64
}

// pad puts v into out, which has its size by now.
func (b *Border) pad(out *pixel.Image, v View) {
	constant := b.Mode == PadConstant || b.Mode == ""
	if constant {
		_ = out.Fill(b.Fill) // cannot fail: the image has its size
	}
	v.place(out, b.Top, b.Left)
	if constant {
		return
	}
	n := out.C * out.DType.Size()
	for y := b.Top; y < b.Top+v.Window.H; y++ {
		b.extend(out.Pix[y*out.W*n:][:out.W*n], v.Window.W, n)
	}
	for y := range out.H {
		if from := b.Top + b.Mode.inside(y-b.Top, v.Window.H); from != y {
			copy(out.Pix[y*out.W*n:][:out.W*n], out.Pix[from*out.W*n:])
		}
	}
}

// extend fills what is left and right of the w pixels of the image in a row.
func (b *Border) extend(row []byte, w, pixel int) {
	for x := range len(row) / pixel {
		if from := b.Left + b.Mode.inside(x-b.Left, w); from != x {
			copy(row[x*pixel:][:pixel], row[from*pixel:])
		}
	}
}

// inside is the place from 0 to n-1 that m repeats at place i, as numpy's pad does.
func (m PadMode) inside(i, n int) int {
	switch {
	case m == PadEdge || n == 1:
		return min(max(i, 0), n-1)
	case m == PadReflect:
		period := 2 * (n - 1)
		i = ((i % period) + period) % period
		return min(i, period-i)
	default:
		period := 2 * n
		i = ((i % period) + period) % period
		return min(i, period-1-i)
	}
}

// Scaled is the longer side of an image whose sides are short and long, scaled so that short becomes n; or the
// other way round. It is rounded down, as torchvision's Resize does, but at least 1.
func Scaled(n, short, long int) int { return max(1, n*long/short) }

// Middle is where the middle part pixels begin in whole, rounded half to even as torchvision's CenterCrop does.
func Middle(whole, part int) int {
	return int(math.RoundToEven(float64(whole-part) / 2))
}
