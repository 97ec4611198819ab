package hdf5

import (
	"encoding/binary"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
)

// column is one field in mapped memory: values of one shape, or bytes with offsets.
type column struct {
	data []byte

	size  int // of a value, if all have one shape
	shape []int
	dtype formats.DType

	// The datasets that go with bytes, as in the file, little-endian; nil if all values
	// have one shape. A column of images has no shapes, encodings and types.
	offsets, shapes  []byte
	encodings, types []byte
	shapeWidth       int // number of columns of shapes
	lost             []interval
}

// interval is a range of values whose offset, shape or type is lost.
type interval struct{ from, to int }

// bytes returns the bytes of value i.
func (c *column) bytes(i int) ([]byte, error) {
	for _, l := range c.lost {
		if i >= l.from && i < l.to {
			return nil, fmt.Errorf("%w: the offset, shape or type of value %d is lost", formats.ErrDamaged, i)
		}
	}
	if c.offsets == nil {
		return c.data[i*c.size : (i+1)*c.size : (i+1)*c.size], nil
	}
	from, to := binary.LittleEndian.Uint64(c.offsets[8*i:]), binary.LittleEndian.Uint64(c.offsets[8*i+8:])
	if from > to || to > uint64(len(c.data)) {
		return nil, fmt.Errorf("%w: value %d would be bytes %d to %d of %d", formats.ErrDamaged, i, from, to, len(c.data))
	}
	return c.data[from:to:to], nil
}

// value returns value i of an extra field; Data is lent, Shape is appended to shape[:0].
func (c *column) value(i int, shape []int) (formats.Value, error) {
	b, err := c.bytes(i)
	if err != nil {
		return formats.Value{}, err
	}
	v := formats.Value{Data: b, Shape: shape[:0]}
	if c.offsets == nil {
		v.Encoding, v.DType, v.Shape = formats.Raw, c.dtype, append(v.Shape, c.shape...)
		return v, nil
	}
	e, t := int(c.encodings[i]), int(c.types[i])
	if e >= len(encodingCodes) || t >= len(typeCodes) {
		return formats.Value{}, fmt.Errorf("%w: value %d has the unknown encoding %d or type %d", formats.ErrDamaged, i, e, t)
	}
	v.Encoding, v.DType = encodingCodes[e], typeCodes[t]
	for k := range c.shapeWidth {
		d := int64(binary.LittleEndian.Uint64(c.shapes[8*(i*c.shapeWidth+k):]))
		if d < 0 {
			break
		}
		v.Shape = append(v.Shape, int(d))
	}
	return v, checkShape(&v)
}

// unreadable returns an error if, since mark, a read of what describes value i has failed, or if
// the file was truncated before it.
func (c *column) unreadable(mark guard.Mark, i int) error {
	if c.offsets == nil {
		return nil
	}
	row := 8 * c.shapeWidth
	for _, b := range [...][]byte{c.offsets[8*i : 8*i+16], c.shapes[i*row : (i+1)*row], c.encodings[i : i+1], c.types[i : i+1]} {
		if err := guard.Check(mark, b); err != nil {
			return err
		}
		if err := guard.Shortened(b); err != nil {
			return err
		}
	}
	return nil
}

// checkShape returns an error if the shape is impossible or, for raw values, does not match the
// bytes: readers of the value rely on it.
func checkShape(v *formats.Value) error {
	limit := int64(1) << 62
	if v.Encoding == formats.Raw {
		limit = int64(len(v.Data))
	}
	n, ok := elements(v.Shape, limit)
	if !ok || v.Encoding == formats.Raw && n*int64(v.DType.Size()) != int64(len(v.Data)) {
		return fmt.Errorf("%w: %d bytes of %s %s do not have the shape %v", formats.ErrDamaged, len(v.Data), v.Encoding, v.DType, v.Shape)
	}
	return nil
}
