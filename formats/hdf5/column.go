package hdf5

import (
	"encoding/binary"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
)

// column is one extra field in mapped memory: values of one shape, or bytes with offsets.
type column struct {
	data []byte

	size  int // of a value, if all have one shape
	shape []int
	dtype formats.DType

	// The datasets that go with bytes; nil if all values have one shape.
	offsets, shapes, encodings, types *rows
}

// bytes returns the bytes of value i.
func (c *column) bytes(i int) ([]byte, error) {
	if c.offsets == nil {
		return c.data[i*c.size : (i+1)*c.size : (i+1)*c.size], nil
	}
	b, err := c.offsets.at(i, 2)
	if err != nil {
		return nil, err
	}
	from, to := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
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
	var described [3][]byte
	for k, r := range []*rows{c.encodings, c.types, c.shapes} {
		if described[k], err = r.at(i, 1); err != nil {
			return formats.Value{}, err
		}
	}
	e, t := int(described[0][0]), int(described[1][0])
	if e >= len(encodingCodes) || t >= len(typeCodes) {
		return formats.Value{}, fmt.Errorf("%w: value %d has the unknown encoding %d or type %d", formats.ErrDamaged, i, e, t)
	}
	v.Encoding, v.DType = encodingCodes[e], typeCodes[t]
	for dims := described[2]; len(dims) > 0; dims = dims[8:] {
		d := int64(binary.LittleEndian.Uint64(dims))
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
	for _, r := range [...]*rows{c.offsets, c.shapes, c.encodings, c.types} {
		b := r.bytes[i*r.size : min((i+2)*r.size, len(r.bytes))]
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
