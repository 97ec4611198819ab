package convert

import (
	"fmt"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/value"
)

// contractError is an error of a Dataset that does not keep its contract. It is a mistake of a program,
// which other samples share, so it ends the run; a bad image is skipped.
type contractError struct{ error }

func (e contractError) Unwrap() error { return e.error }

// breach returns a contractError about what Read gave for the sample of that key.
func breach(key string, err error) error {
	return contractError{fmt.Errorf("key %q: the source's Read: %w", key, err)}
}

// blank empties s, but for the memory that is its own: what Read leaves out is empty, and not another
// sample's.
func blank(s *formats.Sample) {
	for k := range s.Values {
		v := &s.Values[k]
		v.Data, v.Encoding, v.DType, v.Shape = nil, "", "", nil
	}
	s.Key, s.Split, s.Values, s.Columns = "", "", s.Values[:0], nil
	s.Source, s.Provenance, s.Checksum = formats.Source{}, formats.Provenance{}, [16]byte{}
}

// checkSample returns a contractError if s, which Read gave, is not what a Dataset must give. ready
// samples are in a dataset already.
func (p *Plan) checkSample(in *formats.Info, s *formats.Sample, ready bool) error {
	schema := p.src.Meta().Schema
	switch {
	case s.Key == "":
		return breach(in.Key, fmt.Errorf("%w: it gave the sample no key: set Sample.Key", formats.ErrKey))
	case s.Key != in.Key:
		return breach(in.Key, fmt.Errorf("%w: it gave the sample the key %q, but Info has %q", formats.ErrKey, s.Key, in.Key))
	case len(s.Values) != len(schema):
		return breach(in.Key, fmt.Errorf("%w: it gave %d values for %d fields", formats.ErrSchema, len(s.Values), len(schema)))
	case ready:
		return nil
	}
	for k := range schema {
		if err := checkField(&schema[k], &s.Values[k]); err != nil {
			return breach(in.Key, err)
		}
	}
	if p.version { // an edit may change labels and splits
		return nil
	}
	if err := p.checkInfo(schema, in, s); err != nil {
		return breach(in.Key, err)
	}
	return nil
}

// checkField returns an error if v cannot be a value of field f. Whether an image can be decoded is not
// checked.
func checkField(f *formats.Field, v *formats.Value) error {
	if f.Kind != formats.Image && f.Kind != formats.Mask {
		return value.CheckValue(f, v)
	}
	switch {
	case v.Encoding == "" && (v.DType != "" || len(v.Shape) > 0):
		return fmt.Errorf("%w: field %s has no Encoding: pixels are formats.Raw", formats.ErrSchema, f.Name)
	case v.Encoding != "" && !slices.Contains(formats.ImageEncodings, v.Encoding):
		return fmt.Errorf("%w: field %s: an image cannot have the encoding %q", formats.ErrSchema, f.Name, v.Encoding)
	case !v.Encoding.IsRaw():
		return nil
	}
	n := v.DType.Size()
	for _, d := range v.Shape {
		n *= max(d, 0)
	}
	if pixels := v.DType == formats.Uint8 || v.DType == formats.Uint16; !pixels || len(v.Shape) != 2 && len(v.Shape) != 3 {
		return fmt.Errorf("%w: field %s: raw pixels of type %q and shape %v: set DType to uint8 or uint16, and Shape to height, width and channels",
			formats.ErrSchema, f.Name, v.DType, v.Shape)
	}
	if v.Encoding == formats.Raw && n != len(v.Data) {
		return fmt.Errorf("%w: field %s: %d bytes are not raw pixels of %s with shape %v", formats.ErrSchema, f.Name, len(v.Data), v.DType, v.Shape)
	}
	return nil
}

// checkInfo returns an error if s has another split or label than its Info, or a class that its field
// does not have.
func (p *Plan) checkInfo(schema formats.Schema, in *formats.Info, s *formats.Sample) error {
	if s.Split != in.Split {
		return fmt.Errorf("it gave the sample the split %q, but Info has %q", s.Split, in.Split)
	}
	designated := schema.LabelIndex()
	if _, ok := p.src.(formats.Unlabeled); ok {
		designated = -1
	}
	for k := range schema {
		f := &schema[k]
		if f.Kind != formats.Label {
			continue
		}
		x, _ := s.Values[k].Int64()
		if n := int64(len(f.Classes)); n > 0 && x != formats.NoLabel && (x < 0 || x >= n) {
			return fmt.Errorf("%w: field %s is class %d, and the schema has %d classes, from 0 on", formats.ErrSchema, f.Name, x, n)
		}
		if k == designated && x != in.Label {
			return fmt.Errorf("field %s is class %d, but Info has %d (formats.NoLabel, %d, is none)", f.Name, x, in.Label, formats.NoLabel)
		}
	}
	return nil
}
