package augment

import (
	"fmt"
	"slices"

	"github.com/dsconv/dsconv/preprocess/pixel"
)

// PadMode says what borders are filled with, as torchvision's padding_mode does.
type PadMode string

// The modes of padding.
const (
	PadConstant  PadMode = "constant"  // a value
	PadEdge      PadMode = "edge"      // the pixel at the edge
	PadReflect   PadMode = "reflect"   // the image mirrored at its outermost pixels
	PadSymmetric PadMode = "symmetric" // the image mirrored at its edges
)

var padModes = []PadMode{PadConstant, PadEdge, PadReflect, PadSymmetric}

// checkPadMode takes an empty mode for PadConstant.
func checkPadMode(name string, m PadMode) error {
	if m != "" && !slices.Contains(padModes, m) {
		return fmt.Errorf("%s: unknown padding mode %q; known: %v", name, m, padModes)
	}
	return nil
}

// border is where an image lies in a larger one, and what is around it.
type border struct {
	left, top int
	mode      PadMode
	fill      []float64
}

// pad puts v into out, which has its size by now.
func (b *border) pad(out *pixel.Image, v view) {
	constant := b.mode == PadConstant || b.mode == ""
	if constant {
		_ = out.Fill(b.fill) // cannot fail: the image has its size
	}
	v.place(out, b.top, b.left)
	if constant {
		return
	}
	n := out.C * out.DType.Size()
	for y := b.top; y < b.top+v.window.H; y++ {
		b.extend(out.Pix[y*out.W*n:][:out.W*n], v.window.W, n)
	}
	for y := range out.H {
		if from := b.top + b.mode.inside(y-b.top, v.window.H); from != y {
			copy(out.Pix[y*out.W*n:][:out.W*n], out.Pix[from*out.W*n:])
		}
	}
}

// extend fills what is left and right of the w pixels of the image in a row.
func (b *border) extend(row []byte, w, pixel int) {
	for x := range len(row) / pixel {
		if from := b.left + b.mode.inside(x-b.left, w); from != x {
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
