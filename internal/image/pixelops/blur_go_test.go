//go:build cgo

package pixelops

import (
	"math"

	"github.com/dsconv/dsconv/internal/image/buffer"
)

// blurGo is the pure-Go version of the C kernels: their tests compare with it, and builds
// without cgo use it.
func blurGo(e *Enhancer, b *blurring) {
	c := b.src.Size
	e.row = buffer.Grow(e.row, b.src.W*c)
	for y := range b.dst.H {
		sumVertically(e.row, b, y)
		out := b.dst.Row(y)
		for i := range out {
			x, channel := i/c, i%c
			sum := float32(b.weightsX[0] * e.row[i])
			for k := 1; k < len(b.weightsX); k++ {
				left, right := mirrored(x-k, b.src.W)*c+channel, mirrored(x+k, b.src.W)*c+channel
				sum += float32(b.weightsX[k] * (e.row[left] + e.row[right]))
			}
			out[i] = uint8(math.RoundToEven(float64(sum)))
		}
	}
}

// sumVertically sets row to the weighted sum of the rows around y. The conversions keep the
// compiler from fusing products into sums.
func sumVertically(row []float32, b *blurring, y int) {
	for i, v := range b.src.Row(y) {
		row[i] = float32(b.weightsY[0] * float32(v))
	}
	for k := 1; k < len(b.weightsY); k++ {
		above, below := b.src.Row(mirrored(y-k, b.src.H)), b.src.Row(mirrored(y+k, b.src.H))
		for i := range row {
			row[i] += float32(b.weightsY[k] * float32(int32(above[i])+int32(below[i])))
		}
	}
}

// mirrored returns the row or column i of n, mirrored at the edges.
func mirrored(i, n int) int {
	if i < 0 {
		return -i
	}
	return min(i, 2*(n-1)-i)
}

// sharpenGo is the pure-Go version of sharpen8. Pillow's filter SMOOTH leaves the outermost
// pixels as they are.
func sharpenGo(_ *Enhancer, b *blurring) {
	c := b.src.Size
	for y := range b.dst.H {
		out, row := b.dst.Row(y), b.src.Row(y)
		copy(out, row)
		if y == 0 || y == b.src.H-1 {
			continue
		}
		above, below := b.src.Row(y-1), b.src.Row(y+1)
		for i := c; i < len(row)-c; i++ {
			sum := 4 * int(row[i])
			for k := i - c; k <= i+c; k += c {
				sum += int(above[k]) + int(row[k]) + int(below[k])
			}
			// Rounded; it is never a tie, for 13 is odd.
			out[i] = blend(uint8((sum+6)/13), row[i], b.factor)
		}
	}
}
