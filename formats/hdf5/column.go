package hdf5

import (
	"encoding/binary"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/atrest"
)

// column is one field in mapped memory: values of one shape, or bytes with their bounds.
type column struct {
	data []byte

	size  int // of a value, where they have one shape
	shape []int
	dtype formats.DType

	// The datasets beside bytes as they lie in the file, little-endian; nil where the
	// values have one shape. A column of images has no encodings and types.
	offsets, shapes  []byte
	encodings, types []byte
	rank             int // columns of shapes
}

// newUniform makes a column of n values; dims are those of the dataset.
func newUniform(data []byte, dims []int) (*column, error) {
	c := &column{data: data, shape: dims[1:], dtype: formats.Uint8}
	if dims[0] == 0 {
		return c, nil
	}
	c.size = len(data) / dims[0]
	if t := atrest.ElementType(c.shape, uint64(c.size)); t != "" {
		c.dtype = t
	} else if len(data) > 0 {
		return nil, fmt.Errorf("%w: %d bytes for the shape %v", formats.ErrDamaged, len(data), dims)
	}
	return c, nil
}

// bytes are those of value i.
func (c *column) bytes(i int) ([]byte, error) {
	from, to := uint64(i*c.size), uint64((i+1)*c.size)
	if c.offsets != nil {
		from, to = binary.LittleEndian.Uint64(c.offsets[8*i:]), binary.LittleEndian.Uint64(c.offsets[8*i+8:])
	}
	if from > to || to > uint64(len(c.data)) {
		return nil, fmt.Errorf("%w: value %d lies from byte %d to %d of %d", formats.ErrDamaged, i, from, to, len(c.data))
	}
	return c.data[from:to:to], nil
}

// value is value i of a further field; Data is lent, Shape is appended to shape[:0].
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
		return formats.Value{}, fmt.Errorf("%w: value %d has encoding %d and type %d", formats.ErrDamaged, i, e, t)
	}
	v.Encoding, v.DType = encodingCodes[e], typeCodes[t]
	for k := range c.rank {
		d := int64(binary.LittleEndian.Uint64(c.shapes[8*(i*c.rank+k):]))
		if d < 0 {
			break
		}
		v.Shape = append(v.Shape, int(d))
	}
	return v, nil
}
