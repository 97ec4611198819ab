package augment

import (
	"encoding/binary"

	"github.com/dsconv/dsconv/formats"
)

// Layout is the order of a batch's dimensions.
type Layout string

// The layouts. An entry of NHWC has its channels together, as images lie in files; one of
// NCHW is a plane per channel, as PyTorch wants it.
const (
	NHWC Layout = "nhwc"
	NCHW Layout = "nchw"
)

// table maps the 256 values of a channel to what goes into the batch.
type table[T any] [256]T

// StoreUint8 writes v into the batch entry dst, of H*W*C elements.
func (p *Pipeline) StoreUint8(dst []uint8, v View) {
	if p.layout == NHWC && !v.Flip {
		copyRows(dst, v)
		return
	}
	store(dst, v, p.layout, p.byte)
}

// StoreFloat32 writes v, scaled to [0, 1] and normalised, into the batch entry dst, of
// H*W*C elements.
func (p *Pipeline) StoreFloat32(dst []float32, v View) {
	if v.Image.DType == formats.Uint16 {
		p.storeUint16(dst, v)
		return
	}
	store(dst, v, p.layout, p.float)
}

// copyRows copies the window, at once if it is as wide as the image.
func copyRows(dst []uint8, v View) {
	c := v.Image.C
	if v.Window.W == v.Image.W {
		copy(dst, v.Image.Pix[v.Window.Y*v.Image.W*c:])
		return
	}
	for y := range v.Window.H {
		copy(dst[y*v.Window.W*c:], v.row(y, c))
	}
}

func store[T any](dst []T, v View, layout Layout, tables []table[T]) {
	c := len(tables)
	w, plane := v.Window.W, v.Window.W*v.Window.H
	for y := range v.Window.H {
		src := v.row(y, c)
		switch {
		case layout == NCHW && c == 3:
			at := y * w
			r, g, b := dst[at:][:w], dst[plane+at:][:w], dst[2*plane+at:][:w]
			rgbToPlanes(r, g, b, src, v.Flip, (*[3]table[T])(tables))
		case layout == NCHW:
			for k := range tables {
				lookup(dst[k*plane+y*w:][:w], src[k:], 1, c, v.Flip, &tables[k])
			}
		case c == 3:
			rgbToPixels(dst[y*w*c:][:w*c], src, v.Flip, (*[3]table[T])(tables))
		default:
			for k := range tables {
				lookup(dst[y*w*c+k:][:w*c-k], src[k:], c, c, v.Flip, &tables[k])
			}
		}
	}
}

// lookup maps every step-th byte of src, from the last one if mirrored, to every
// stride-th element of dst.
func lookup[T any](dst []T, src []byte, stride, step int, mirrored bool, t *table[T]) {
	j := 0
	if mirrored {
		j, step = (len(src)-1)/step*step, -step
	}
	for i := 0; i < len(dst); i += stride {
		dst[i] = t[src[j]]
		j += step
	}
}

// storeUint16 is StoreFloat32 of pixels of 16 bits.
func (p *Pipeline) storeUint16(dst []float32, v View) {
	c, w, plane := p.c, p.w, p.h*p.w
	for k := range c {
		mean, std := p.norm.channel(k)
		for y := range p.h {
			src := v.row(y, 2*c)
			for x := range w {
				at := x
				if v.Flip {
					at = w - 1 - x
				}
				value := (float32(binary.LittleEndian.Uint16(src[2*(at*c+k):]))/65535 - mean) / std
				if p.layout == NCHW {
					dst[k*plane+y*w+x] = value
				} else {
					dst[(y*w+x)*c+k] = value
				}
			}
		}
	}
}

// floatTables holds (x/255 - mean)/std in float32, rounded at each step as torchvision's
// ToTensor and Normalize round.
func floatTables(c int, n Normalize) []table[float32] {
	t := make([]table[float32], c)
	for k := range t {
		mean, std := n.channel(k)
		for x := range t[k] {
			t[k][x] = (float32(x)/255 - mean) / std
		}
	}
	return t
}

func byteTables(c int) []table[uint8] {
	t := make([]table[uint8], c)
	for k := range t {
		for x := range t[k] {
			t[k][x] = uint8(x)
		}
	}
	return t
}
