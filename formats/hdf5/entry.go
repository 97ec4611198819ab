//go:build cgo

package hdf5

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/dsconv/dsconv/formats"
)

// entry is what the file says of one value apart from its bytes.
type entry struct {
	size            int64
	encoding, dtype uint8 // codes
	shape           []int
}

func newEntry(size int64, e formats.Encoding, t formats.DType, shape []int) entry {
	return entry{size, uint8(max(0, slices.Index(encodingCodes, e))), uint8(max(0, slices.Index(typeCodes, t))), shape}
}

// imageEntry returns the entry of a designated image.
func imageEntry(f *formats.Field, in *formats.Info) entry {
	return newEntry(in.Size, in.Encoding, imageType(f, in), in.Shape[:])
}

// summary is what the datasets of a field depend on: all its entries, in constant memory.
type summary struct {
	n       int
	size    int64 // of all values
	first   entry
	rank    int  // the largest number of dimensions
	mixed   bool // there are several encodings
	varying bool // there are several encodings, types or shapes
}

func (s *summary) add(e entry) {
	if s.n == 0 {
		s.first = e
		s.first.shape = slices.Clone(e.shape)
	}
	s.mixed = s.mixed || e.encoding != s.first.encoding
	s.varying = s.varying || s.mixed || e.dtype != s.first.dtype || !slices.Equal(e.shape, s.first.shape)
	s.rank = max(s.rank, len(e.shape))
	s.n++
	s.size += e.size
}

// uniform reports whether all values are raw and have one shape and element type.
func (s *summary) uniform() bool {
	return s.n > 0 && !s.varying && encodingCodes[s.first.encoding] == formats.Raw
}

// encodingName returns the encoding of all values, or "mixed"; "" if there are none.
func (s *summary) encodingName() string {
	switch {
	case s.n == 0:
		return ""
	case s.mixed:
		return "mixed"
	}
	return string(encodingCodes[s.first.encoding])
}

// appendEntry appends e as in the index file of a staged field; readEntries reads it.
func appendEntry(b []byte, e entry) []byte {
	b = binary.AppendUvarint(b, uint64(e.size))
	b = append(b, e.encoding, e.dtype, uint8(len(e.shape)))
	for _, d := range e.shape {
		b = binary.AppendUvarint(b, uint64(d))
	}
	return b
}

// readEntries calls do with each entry of an index file. The shape is valid until do returns.
func readEntries(r io.ByteReader, do func(e entry) error) error {
	var shape []int
	for {
		e, err := readEntry(r, shape[:0])
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%w: the index file of a field cannot be parsed: %w", formats.ErrDamaged, err)
		}
		if err := do(e); err != nil {
			return err
		}
		shape = e.shape
	}
}

// readEntry reads an entry whose shape is appended to shape. io.EOF only at the end of the file.
func readEntry(r io.ByteReader, shape []int) (entry, error) {
	size, err := binary.ReadUvarint(r)
	if err != nil {
		return entry{}, err
	}
	e := entry{size: int64(size), shape: shape}
	var rank uint8
	for _, p := range []*uint8{&e.encoding, &e.dtype, &rank} {
		if *p, err = r.ReadByte(); err != nil {
			return entry{}, unexpected(err)
		}
	}
	if size > 1<<40 || int(e.encoding) >= len(encodingCodes) || int(e.dtype) >= len(typeCodes) || rank > maxDims-1 {
		return entry{}, errors.New("an impossible size, encoding, type or number of dimensions")
	}
	for range rank {
		d, err := binary.ReadUvarint(r)
		if err != nil {
			return entry{}, unexpected(err)
		}
		if d > 1<<40 {
			return entry{}, errors.New("an impossible dimension")
		}
		e.shape = append(e.shape, int(d))
	}
	return e, nil
}

// unexpected returns err, but not as an end of the file.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
