package arrays

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/dsconv/dsconv/formats"
)

// Number is a type of numbers in an array, in NumPy's letters.
type Number struct {
	Kind byte // 'b' (bool), 'u', 'i', 'f'
	Size int  // bytes: 1, 2, 4 or 8
	Big  bool // the most significant byte comes first
}

// Column is a number, or Width numbers, for each of Count samples.
type Column struct {
	Data   []byte
	Type   Number
	Count  int
	Offset int // of the first sample's
	Stride int // bytes from sample to sample
	Width  int // 1, or the classes of a multi-hot label
}

// OfBytes returns the column of those numbers, one a sample.
func OfBytes(b []byte) Column {
	return Column{Data: b, Type: Number{Kind: 'u', Size: 1}, Count: len(b), Stride: 1, Width: 1}
}

// check returns an error if the column does not lie in its data.
func (c *Column) check() error {
	switch c.Type.Size {
	case 1, 2, 4, 8:
	default:
		return fmt.Errorf("numbers of %d bytes are not supported", c.Type.Size)
	}
	if c.Count < 0 || c.Offset < 0 || c.Width < 1 || c.Stride < 0 || c.Width > math.MaxInt32 ||
		!fits(len(c.Data), c.Offset, c.Count, c.Stride, c.Width*c.Type.Size) {
		return fmt.Errorf("%w: %d labels do not fit into %d bytes", formats.ErrDamaged, c.Count, len(c.Data))
	}
	return nil
}

// fits reports whether count items of size bytes, stride apart from offset, lie in total bytes.
func fits(total, offset, count, stride, size int) bool {
	if count == 0 {
		return offset <= total
	}
	room := total - offset - size
	return room >= 0 && (stride == 0 && count == 1 || stride > 0 && count-1 <= room/stride)
}

// bits returns the number of sample i as its bits.
func (c *Column) bits(i int) uint64 {
	b := c.Data[c.Offset+i*c.Stride:][:c.Type.Size]
	var order binary.ByteOrder = binary.LittleEndian
	if c.Type.Big {
		order = binary.BigEndian
	}
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(order.Uint16(b))
	case 4:
		return uint64(order.Uint32(b))
	}
	return order.Uint64(b)
}

// number returns the integer of sample i, ok false if it has more bits than an int64.
func (c *Column) number(i int) (x int64, ok bool) {
	u := c.bits(i)
	if c.Type.Kind == 'i' {
		unused := 64 - 8*c.Type.Size
		return int64(u<<unused) >> unused, true
	}
	return int64(u), int64(u) >= 0
}

// float returns the number of sample i.
func (c *Column) float(i int) float32 {
	u := c.bits(i)
	if c.Type.Size == 8 {
		return float32(math.Float64frombits(u))
	}
	return math.Float32frombits(uint32(u))
}

// row returns the Width bytes of sample i.
func (c *Column) row(i int) []byte { return c.Data[c.Offset+i*c.Stride:][:c.Width] }

// kind returns what field the column is.
func (c *Column) kind() (formats.Kind, error) {
	switch integer := c.Type.Kind == 'u' || c.Type.Kind == 'i' || c.Type.Kind == 'b'; {
	case c.Width == 1 && integer:
		return formats.Label, nil
	case c.Width == 1 && c.Type.Kind == 'f' && c.Type.Size >= 4:
		return formats.Number, nil
	case integer && c.Type.Size == 1:
		return formats.MultiHot, nil
	}
	return "", fmt.Errorf("%w: labels are integers, float32 or float64, one a sample, or uint8 for each class (multi-hot)", formats.ErrSchema)
}

// set sets v to the value of sample i.
func (c *Column) set(v *formats.Value, kind formats.Kind, i int) {
	switch kind {
	case formats.Label:
		x, _ := c.number(i)
		v.SetInt64(x)
	case formats.Number:
		v.SetFloat32(c.float(i))
	default:
		v.Copy(c.row(i))
		v.Encoding, v.DType = formats.Raw, formats.Uint8
		v.SetShape(c.Width)
	}
}
