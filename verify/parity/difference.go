package parity

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// difference is how far two images are from each other.
type difference struct {
	largest int     // of 255, or of 65535 where bits is 16
	square  float64 // mean of the squares, of values from 0 to 1
	bits    int
	cause   string // why pixels cannot be compared: another shape; the difference is then all there is
}

func (d *difference) equal() bool { return d.largest == 0 }

// psnr is the peak signal-to-noise ratio in dB of a mean square of values from 0 to 1.
func psnr(square float64) float64 { return -10 * math.Log10(square) }

// differenceOf compares our image with Pillow's.
func differenceOf(ours, theirs *pixel.Image) difference {
	bits := 8 * ours.DType.Size()
	peak := 1<<bits - 1
	if ours.H != theirs.H || ours.W != theirs.W || ours.C != theirs.C || ours.DType != theirs.DType {
		return difference{largest: peak, square: 1, bits: bits, cause: fmt.Sprintf("%s where Pillow has %s", shapeOf(ours), shapeOf(theirs))}
	}
	d := difference{bits: bits}
	var sum uint64
	add := func(x int) {
		if x < 0 {
			x = -x
		}
		d.largest = max(d.largest, x)
		sum += uint64(x * x)
	}
	n := len(ours.Pix)
	if bits == 16 {
		n /= 2
		for i := range n {
			add(int(binary.LittleEndian.Uint16(ours.Pix[2*i:])) - int(binary.LittleEndian.Uint16(theirs.Pix[2*i:])))
		}
	} else {
		for i, v := range theirs.Pix {
			if v != ours.Pix[i] {
				add(int(ours.Pix[i]) - int(v))
			}
		}
	}
	d.square = float64(sum) / float64(n) / float64(peak*peak)
	return d
}

func shapeOf(m *pixel.Image) string {
	return fmt.Sprintf("%dx%dx%d of %s", m.H, m.W, m.C, m.DType)
}

// withColors makes an image of grey and alpha one of RGB and alpha, as it is stored in a PNG.
func withColors(m *pixel.Image) *pixel.Image {
	if m.C != 2 {
		return m
	}
	var out pixel.Image
	out.Reset(m.H, m.W, 4, m.DType)
	n := m.DType.Size()
	for i := range m.H * m.W {
		for c, from := range [4]int{0, 0, 0, 1} {
			copy(out.Pix[(4*i+c)*n:][:n], m.Pix[(2*i+from)*n:])
		}
	}
	return &out
}

// cut is the square of side pixels in the middle of m, as torchvision's CenterCrop cuts it.
func cut(m *pixel.Image, side int) *pixel.Image {
	x := int(math.RoundToEven(float64(m.W-side) / 2))
	y := int(math.RoundToEven(float64(m.H-side) / 2))
	return part(m, pixel.Rect{X: x, Y: y, W: side, H: side})
}

func part(m *pixel.Image, r pixel.Rect) *pixel.Image {
	var out pixel.Image
	out.Reset(r.H, r.W, m.C, m.DType)
	size := m.C * m.DType.Size()
	for y := range r.H {
		copy(out.Pix[y*r.W*size:][:r.W*size], m.Pix[((r.Y+y)*m.W+r.X)*size:])
	}
	return &out
}

// modeOf is Pillow's name for pixels of m's channels and type, "" where it has none.
func modeOf(m *pixel.Image) string {
	if m.DType == formats.Uint16 {
		if m.C == 1 {
			return "I;16"
		}
		return ""
	}
	return [...]string{"", "L", "LA", "RGB", "RGBA"}[m.C]
}
