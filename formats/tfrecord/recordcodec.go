package tfrecord

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/tfexample"
	"github.com/dsconv/dsconv/internal/storage/value"
)

// encoder encodes samples as frames. It reuses its memory for each sample.
type encoder struct {
	features []feature
	front    []byte // frame head and the example's own tag
	head     []byte // everything else that is small; parts points into it
	small    []byte // one feature's payload
	parts    [][]byte
}

// encode returns the parts of the frame in order; they point into s and into
// memory that the next call reuses.
func (e *encoder) encode(s *formats.Sample) [][]byte {
	e.head, e.parts = e.head[:0], append(e.parts[:0], nil)
	size, from := 0, 0
	for i := range e.features {
		f := &e.features[i]
		small, data, ok := f.payload(e.small[:0], s)
		if !ok {
			continue
		}
		e.head = appendFeature(e.head, f.name, f.kind, len(small)+len(data))
		if small != nil {
			e.head, e.small = append(e.head, small...), small
		}
		if len(data) > 0 {
			e.parts = append(e.parts, e.head[from:len(e.head):len(e.head)], data)
			size, from = size+len(data), len(e.head)
		}
	}
	e.parts = append(e.parts, e.head[from:])
	size += len(e.head)
	e.front = tfexample.AppendFrameHead(e.front[:0], fieldSize(size))
	e.front = appendField(e.front, field1, size)
	e.parts[0] = e.front
	crc := crc32.Checksum(e.front[tfexample.FrameHead:], checksum.Castagnoli)
	for _, p := range e.parts[1:] {
		crc = crc32.Update(crc, checksum.Castagnoli, p)
	}
	e.front = binary.LittleEndian.AppendUint32(e.front, tfexample.MaskCRC(crc))
	n := len(e.front) - tfexample.FrameTail
	e.parts[0] = e.front[:n]
	e.parts = append(e.parts, e.front[n:])
	return e.parts
}

// decode fills the values of s from an example. With lend the values' Data may point into
// it, else they are copied to s's own buffers. shape is the designated image's.
func decode(schema formats.Schema, fs []feature, example []byte, shape [3]int, s *formats.Sample, lend bool) error {
	s.Resize(len(schema))
	for i := range s.Values {
		v := &s.Values[i]
		v.Encoding, v.DType = "", ""
		v.SetShape()
		if schema[i].Kind == formats.Label {
			value.SetLabel(v, formats.NoLabel, lend)
		}
	}
	next := 0
	err := features(example, func(name []byte, kind listKind, payload []byte) error {
		for ; next < len(fs); next++ {
			f := &fs[next]
			if string(name) == f.name && kind == f.kind {
				next++
				if f.set == nil {
					return nil
				}
				return f.set(s, payload, lend)
			}
			if f.required {
				return fmt.Errorf("%w: the feature %s is missing", formats.ErrDamaged, f.name)
			}
		}
		return fmt.Errorf("%w: unexpected feature %q", formats.ErrDamaged, name)
	})
	if err != nil {
		return err
	}
	for ; next < len(fs); next++ {
		if fs[next].required {
			return fmt.Errorf("%w: the feature %s is missing", formats.ErrDamaged, fs[next].name)
		}
	}
	if shape != [3]int{} {
		s.Values[schema.ImageIndex()].SetShape(shape[:]...)
	}
	return checkTensors(schema, s)
}

// checkTensors compares the sizes of raw values with their element types and shapes.
func checkTensors(schema formats.Schema, s *formats.Sample) error {
	for i := range s.Values {
		v := &s.Values[i]
		if v.Encoding == "" {
			return fmt.Errorf("%w: field %s has no value", formats.ErrDamaged, schema[i].Name)
		}
		if v.Encoding != formats.Raw && v.Encoding != formats.RawZstd {
			continue
		}
		n := v.DType.Size()
		for _, d := range v.Shape {
			if d > 0 && n > 1<<40/d {
				return fmt.Errorf("%w: field %s: impossible shape %v", formats.ErrDamaged, schema[i].Name, v.Shape)
			}
			n *= d
		}
		if v.DType == "" || v.Encoding == formats.Raw && n != len(v.Data) {
			return fmt.Errorf("%w: field %s: %d bytes are not a tensor of %s with shape %v", formats.ErrDamaged, schema[i].Name, len(v.Data), v.DType, v.Shape)
		}
	}
	return nil
}
