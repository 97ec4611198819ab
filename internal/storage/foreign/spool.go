package foreign

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/extsort"
	"github.com/dsconv/dsconv/internal/wire"
)

// spool is a temporary file of samples, which can be read several times.
type spool struct {
	f   *os.File
	w   *bufio.Writer
	buf []byte
}

func newSpool() (*spool, error) {
	f, err := extsort.Temporary("")
	if err != nil {
		return nil, err
	}
	return &spool{f: f, w: bufio.NewWriterSize(f, 256<<10)}, nil
}

func (s *spool) add(one *Sample) error {
	s.buf = appendSample(s.buf[:0], one)
	if _, err := s.w.Write(binary.AppendUvarint(nil, uint64(len(s.buf)))); err != nil {
		return extsort.Explain("", err)
	}
	if _, err := s.w.Write(s.buf); err != nil {
		return extsort.Explain("", err)
	}
	return nil
}

func (s *spool) flush() error {
	if err := s.w.Flush(); err != nil {
		return extsort.Explain("", err)
	}
	return nil
}

// each calls yield with each sample, which is valid until yield returns.
func (s *spool) each(yield func(one *Sample) error) error {
	r := bufio.NewReaderSize(io.NewSectionReader(s.f, 0, 1<<62), 256<<10)
	var one Sample
	for {
		n, err := binary.ReadUvarint(r)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err == nil && n > 1<<30:
			err = errors.New("it was changed")
		}
		if err == nil {
			s.buf = append(s.buf[:0], make([]byte, n)...)
			_, err = io.ReadFull(r, s.buf)
		}
		if err == nil {
			err = takeSample(s.buf, &one)
		}
		if err != nil {
			return extsort.Explain("", err)
		}
		if err := yield(&one); err != nil {
			return err
		}
	}
}

func (s *spool) close() error { return s.f.Close() }

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
