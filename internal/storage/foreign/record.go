package foreign

import (
	"encoding/binary"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/wire"
)

// appendSample appends what takeSample takes.
func appendSample(b []byte, s *Sample) []byte {
	for _, text := range [...]string{s.Key, s.Unique, s.Split, s.Path, s.Class} {
		b = wire.AppendBytes(b, text)
	}
	b = binary.AppendUvarint(b, uint64(s.File))
	b = binary.AppendUvarint(b, uint64(s.Label))
	b = binary.AppendUvarint(b, uint64(len(s.Columns)))
	for _, text := range s.Columns {
		b = wire.AppendBytes(b, text)
	}
	b = binary.AppendUvarint(b, uint64(len(s.Values)))
	for i := range s.Values {
		v := &s.Values[i]
		b = wire.AppendBytes(b, v.Encoding)
		for _, n := range [...]int64{int64(v.Column), v.Offset, v.Length, v.Size, int64(v.Shape[0]), int64(v.Shape[1]), int64(v.Shape[2])} {
			b = binary.AppendUvarint(b, uint64(n))
		}
		b = appendTensor(b, v.Tensor)
	}
	return b
}

func appendTensor(b []byte, t *Tensor) []byte {
	if t == nil {
		return append(b, 0)
	}
	b = wire.AppendBytes(append(b, 1), t.DType)
	b = binary.AppendUvarint(b, uint64(len(t.Shape)))
	for _, n := range t.Shape {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return b
}

func takeTensor(c *wire.Cursor) *Tensor {
	if c.Uvarint() == 0 {
		return nil
	}
	t := &Tensor{DType: formats.DType(c.Bytes())}
	for range c.Length(1) {
		t.Shape = append(t.Shape, int(c.Varint()))
	}
	return t
}

func takeSample(b []byte, s *Sample) error {
	c := &wire.Cursor{B: b}
	for _, text := range [...]*string{&s.Key, &s.Unique, &s.Split, &s.Path, &s.Class} {
		*text = string(c.Bytes())
	}
	s.File, s.Label = int(c.Varint()), c.Varint()
	s.Columns, s.Values = s.Columns[:0], s.Values[:0]
	for range c.Length(1) {
		s.Columns = append(s.Columns, string(c.Bytes()))
	}
	for range c.Length(8) {
		v := Value{Encoding: formats.Encoding(c.Bytes())}
		v.Column, v.Offset, v.Length, v.Size = int(c.Varint()), c.Varint(), c.Varint(), c.Varint()
		v.Shape = [3]int{int(c.Varint()), int(c.Varint()), int(c.Varint())}
		v.Tensor = takeTensor(c)
		s.Values = append(s.Values, v)
	}
	if c.Failed || len(c.B) > 0 {
		return fmt.Errorf("%w: a record of the temporary file", formats.ErrDamaged)
	}
	return nil
}
