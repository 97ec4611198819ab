package geometry

import "github.com/dsconv/dsconv/preprocess/pixel"

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
