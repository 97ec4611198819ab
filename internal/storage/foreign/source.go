package foreign

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/wire"
)

// FromPython is what errors say about data that dsconv does not read itself.
const FromPython = "pack it from Python, where any dataset can be read: dsconv.pack(dataset, ...): docs/python-datasets.md"

// Source is a dataset of another program.
type Source struct {
	Format string // the name of the format
	Path   string // of the dataset, as it was given
	Files  []File // in order
	// Version of the reading: a larger one makes another index of the same files.
	Version int
	Options formats.ReadOptions
	// Extra is what else decides the samples, such as the text of an index that the format has.
	Extra   []byte
	Columns []string // the user's columns that all samples have
	// Scan adds all samples, in the order of the files.
	Scan func(ctx context.Context, s *Scan) error
	// Layout decides what the samples have in common, after the scan.
	Layout func(f *Found) (*Layout, error)
	// Decode returns the value whose bytes are raw, in mapped memory: as is what Layout says of the field.
	// Shape may be appended to shape[:0]. What is not converted is lent.
	Decode func(as string, raw []byte, shape []int) (formats.Value, error)
	// Verify, if not nil, compares the bytes at the place of an image that was read with their checksum.
	Verify func(raw []byte) error
}

// File is a data file.
type File struct {
	Path string
	// Name is that of Meta.Files, and Stem what is put before keys that other files have too.
	Name, Stem string
	// Unpack decompresses a file that is compressed as a whole, in the caller's goroutine; nil if it is not. Offsets
	// are then those of the Size bytes that it must give.
	Unpack func(packed io.Reader) (io.ReadCloser, error)
	Size   int64
}

// Sample is what a scan found of a sample.
type Sample struct {
	Key string
	// Unique is the key of a sample that is whole, if others have Key too: all of them get theirs, so that the order
	// decides nothing. Samples without it are one if they have the same key and file.
	Unique string
	Split  string
	File   int    // index into Source.Files
	Path   string // what the sample is called in its source; "" is the key
	// Class is the name of its class or its number, as text, "" if it has none.
	Class string
	// Label is its class index where the source has indices; NoLabel if there is none.
	Label   int64
	Columns []string
	Values  []Value
}

// Has reports whether the sample has a value in the column.
func (s *Sample) Has(column int) bool {
	return slices.ContainsFunc(s.Values, func(v Value) bool { return v.Column == column })
}

// Value says where the bytes of a value are.
type Value struct {
	Column   int // of Scan.Column
	Offset   int64
	Length   int64
	Size     int64            // of the image's own bytes, if they are a part of these; 0: all
	Encoding formats.Encoding // of images
	Shape    [3]int           // of images, zero if unknown
	Tensor   *Tensor          // of arrays
}

// Tensor is the element type and the shape of an array.
type Tensor struct {
	DType formats.DType
	Shape []int
}

// Column is a kind of value that samples may have: the members of one extension, a feature, an array.
type Column struct {
	Name  string
	Count int // samples that have it
	// first is the beginning of the first value, at most FirstBytes.
	first []byte
	// Encoded counts the values that are images, Tensors those that are arrays.
	Encoded, Tensors int
	// DType and Shape are what all arrays have in common: "" and nil if they differ, -1 for a dimension that does.
	DType formats.DType
	Shape []int
}

// firstBytes is the size of Column.First.
const firstBytes = 4096

// Found is what a scan found.
type Found struct {
	Samples  int
	Columns  []Column
	Classed  int            // samples with a Class
	Classes  map[string]int // samples of each Class
	repeated bool           // a key is that of several samples
}

// Layout says what the samples of a dataset have.
type Layout struct {
	Schema formats.Schema
	Fields []FieldSource // of the fields, in the order of the schema
	// Notices say how the samples were read, where that is not evident.
	Notices []string
}

// FieldSource says where the values of a field come from.
type FieldSource struct {
	// Columns are those of its values: the first one that a sample has. None is the label of Sample.Class or
	// Sample.Label.
	Columns []int
	As      string // for Source.Decode; "" lends the bytes as they are
}

// skip is something in the files that is no sample.
type skip = formats.Skip

// Limits of what is in memory during a scan.
const (
	maxColumns = 1000
	maxSkips   = 100_000
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
