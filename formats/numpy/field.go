package numpy

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/arrays"
)

// maxChannels is the most that an image may have, so that the axes can be told apart.
const maxChannels = 4

// pixels returns the images in the array.
func (m *member) pixels() (p arrays.Pixels, err error) {
	n, err := m.number()
	if err != nil {
		return p, err
	}
	switch {
	case n.Kind == 'f':
		return p, fmt.Errorf("%w: it has pixels of type %s; dsconv stores uint8 and uint16: convert them, such as (x * 255).round().astype('uint8')", formats.ErrSchema, m.Descr)
	case n.Kind != 'u' || n.Size > 2 || n.Big && n.Size > 1:
		return p, fmt.Errorf("%w: it has pixels of type %s; dsconv stores uint8 and uint16, little-endian: convert them with astype", formats.ErrSchema, m.Descr)
	case m.Fortran && len(m.data) > 0:
		return p, fmt.Errorf("%w: it is in Fortran order; save numpy.ascontiguousarray(x)", formats.ErrSchema)
	}
	p = arrays.Pixels{Data: m.data, DType: formats.Uint8}
	if n.Size == 2 {
		p.DType = formats.Uint16
	}
	if p.Shape, p.Planar, err = imageShape(m.Shape); err != nil {
		return p, err
	}
	if p.Count = m.Shape[0]; p.Count > 0 {
		p.Stride = len(m.data) / p.Count
	}
	return p, nil
}

// imageShape returns H, W and C of an array of images, and whether C comes first.
func imageShape(shape []int) (hwc [3]int, planar bool, err error) {
	isChannels := func(n int) bool { return n >= 1 && n <= maxChannels }
	switch {
	case len(shape) == 3:
		return [3]int{shape[1], shape[2], 1}, false, nil
	case len(shape) == 4 && isChannels(shape[3]):
		return [3]int(shape[1:]), false, nil
	case len(shape) == 4 && isChannels(shape[1]):
		return [3]int{shape[2], shape[3], shape[1]}, true, nil
	}
	return hwc, false, fmt.Errorf("%w: an array of shape %v; images have the shape (N, H, W), (N, H, W, C) or (N, C, H, W), C from 1 to %d: use reshape or transpose",
		formats.ErrSchema, shape, maxChannels)
}

// column returns the labels in the array.
func (m *member) column() (c arrays.Column, err error) {
	n, err := m.number()
	if err != nil {
		return c, err
	}
	c = arrays.Column{Data: m.data, Type: n, Width: 1}
	switch {
	case len(m.Shape) == 2:
		c.Width = m.Shape[1]
	case len(m.Shape) != 1:
		return c, fmt.Errorf("%w: an array of shape %v; labels have the shape (N) or (N, classes)", formats.ErrSchema, m.Shape)
	}
	if m.Fortran && c.Width > 1 {
		return c, fmt.Errorf("%w: it is in Fortran order; save numpy.ascontiguousarray(y)", formats.ErrSchema)
	}
	c.Count = m.Shape[0]
	c.Stride = c.Width * n.Size
	return c, nil
}
