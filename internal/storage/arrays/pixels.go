package arrays

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
)

// Pixels are Count images of one shape.
type Pixels struct {
	Data   []byte
	DType  formats.DType // Uint8 or Uint16, little-endian
	Shape  [3]int        // H, W, C
	Count  int
	Offset int // of the first image
	Stride int // bytes from image to image
	// Planar says that an image is stored as C, H, W.
	Planar bool
}

// size returns the bytes of an image.
func (p *Pixels) size() int { return p.Shape[0] * p.Shape[1] * p.Shape[2] * p.DType.Size() }

// maxSide and maxBytes bound what one image claims: more than Pillow's limit of pixels.
const (
	maxSide  = 1 << 20
	maxBytes = 1 << 30
)

// check returns an error if the images do not lie in their data.
func (p *Pixels) check() error {
	size := p.DType.Size()
	for _, d := range p.Shape {
		if d < 1 || d > maxSide {
			return fmt.Errorf("%w: images of shape %v", formats.ErrSchema, p.Shape)
		}
		if size *= d; size > maxBytes {
			return fmt.Errorf("%w: images of shape %v have more than %d bytes", formats.ErrSchema, p.Shape, maxBytes)
		}
	}
	if p.Count < 0 || p.Offset < 0 || p.Stride < 0 || !fits(len(p.Data), p.Offset, p.Count, p.Stride, size) {
		return fmt.Errorf("%w: %d images of shape %v do not fit into %d bytes", formats.ErrDamaged, p.Count, p.Shape, len(p.Data))
	}
	return nil
}

// stored returns image i as it lies in Data.
func (p *Pixels) stored(i int) []byte { return p.Data[p.Offset+i*p.Stride:][:p.size():p.size()] }

// set sets v to image i: lent from Data if lend is true and the order of its bytes allows it, else copied.
func (p *Pixels) set(v *formats.Value, i int, lend bool) {
	switch b := p.stored(i); {
	case p.Planar:
		interleave(v.Alloc(len(b)), b, p.Shape[2], p.DType.Size())
	case lend:
		v.Data = b
	default:
		v.Copy(b)
	}
	v.Encoding, v.DType = formats.Raw, p.DType
	v.SetShape(p.Shape[:]...)
}

// interleave copies planes of elements of that size into dst, pixel by pixel.
func interleave(dst, planes []byte, channels, size int) {
	pixels := len(planes) / channels / size
	for c := range channels {
		plane := planes[c*pixels*size:][:pixels*size]
		if size == 1 {
			for i, x := range plane {
				dst[i*channels+c] = x
			}
			continue
		}
		for i := range pixels {
			copy(dst[(i*channels+c)*size:][:size], plane[i*size:])
		}
	}
}
