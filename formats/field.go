package formats

import (
	"fmt"
	"slices"
	"strconv"
)

// Kind is what a field means; it decides how geometric transforms and batching treat the field.
type Kind string

// The kinds of fields.
const (
	Image    Kind = "image"    // input pixels; resized with the chosen filter
	Mask     Kind = "mask"     // pixels to predict; resized by nearest, lossless encodings only
	Boxes    Kind = "boxes"    // float32 (N,4), x0 y0 x1 y1 in pixels
	Label    Kind = "label"    // one class index, int64
	MultiHot Kind = "multihot" // uint8 (classes), 1 where the class applies
	Number   Kind = "number"   // one float32 to predict, NaN where there is none
	Array    Kind = "array"    // tensor of DType and Shape
	Text     Kind = "text"     // UTF-8
	JSON     Kind = "json"     // UTF-8 JSON
	Bytes    Kind = "bytes"    // any bytes
)

// DType is the type of a tensor's elements; multi-byte elements are little-endian.
type DType string

// The element types of stored values.
const (
	Uint8   DType = "uint8"
	Uint16  DType = "uint16"
	Int64   DType = "int64"
	Float32 DType = "float32"
)

// Additional element types of batches.
const (
	Float16  DType = "float16"
	BFloat16 DType = "bfloat16"
)

// Size returns the number of bytes of an element, 0 for an unknown type.
func (d DType) Size() int {
	switch d {
	case Uint8:
		return 1
	case Uint16, Float16, BFloat16:
		return 2
	case Float32:
		return 4
	case Int64:
		return 8
	}
	return 0
}

// Storable reports whether values of datasets may have the type.
func (d DType) Storable() bool {
	return d == Uint8 || d == Uint16 || d == Int64 || d == Float32
}

// Field describes one value that every sample of a dataset has.
type Field struct {
	// Name is "image", "label", "mask", "caption", ...; it becomes part of file names in
	// tars, so it consists of letters, digits, '_' and '-'.
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
	// DType and Shape are set where they are the same for all samples; -1 in Shape is a
	// free dimension, a nil Shape fixes nothing.
	DType DType `json:"dtype,omitempty"`
	Shape []int `json:"shape,omitempty"`
	// Classes names the indices of a Label or MultiHot.
	Classes []string `json:"classes,omitempty"`
}

// MaxClasses is the most classes that are named by their numbers.
const MaxClasses = 1 << 20

// NumberClasses names the classes that have no names, up to the class index largest, by their numbers. It is ErrSchema if
// there were more than MaxClasses: a label of a few bytes must not become a list that takes all memory.
func (f *Field) NumberClasses(largest int64) error {
	if largest >= MaxClasses {
		return fmt.Errorf("%w: the field %s has the class index %d: the limit is %d", ErrSchema, f.Name, largest, MaxClasses-1)
	}
	f.Classes = slices.Clip(f.Classes) // it may be the memory of others
	for i := len(f.Classes); i <= int(largest); i++ {
		f.Classes = append(f.Classes, strconv.Itoa(i))
	}
	return nil
}

// Schema lists a dataset's fields. The first field of kind Image is the
// designated image; the first of kind Label, MultiHot or Number is the designated label.
type Schema []Field

// ImageIndex returns the position of the designated image among the fields, or -1.
func (s Schema) ImageIndex() int {
	return slices.IndexFunc(s, func(f Field) bool { return f.Kind == Image })
}

// LabelIndex returns the position of the designated label among the fields, or -1.
func (s Schema) LabelIndex() int {
	return slices.IndexFunc(s, func(f Field) bool { return f.Kind.IsLabel() })
}

// IsLabel reports whether values of the kind are labels.
func (k Kind) IsLabel() bool { return k == Label || k == MultiHot || k == Number }

// Names returns the names of the fields.
func (s Schema) Names() []string {
	names := make([]string, len(s))
	for i := range s {
		names[i] = s[i].Name
	}
	return names
}

// Index returns the position of the named field, or -1.
func (s Schema) Index(name string) int {
	return slices.IndexFunc(s, func(f Field) bool { return f.Name == name })
}

// Validate reports the first problem that makes the schema unusable: no image, a bad or
// repeated name, an unknown kind, an impossible shape.
func (s Schema) Validate() error {
	if s.ImageIndex() < 0 {
		return fmt.Errorf("%w: no field of kind image", ErrSchema)
	}
	seen := map[string]bool{}
	for _, f := range s {
		switch {
		case !validName(f.Name):
			return fmt.Errorf("%w: field name %q: use 1 to 64 letters, digits, '_' and '-'", ErrSchema, f.Name)
		case seen[f.Name]:
			return fmt.Errorf("%w: two fields named %q", ErrSchema, f.Name)
		case !slices.Contains(kinds, f.Kind):
			return fmt.Errorf("%w: field %q: unknown kind %q", ErrSchema, f.Name, f.Kind)
		case !validShape(f.Shape):
			return fmt.Errorf("%w: field %q: impossible shape %v", ErrSchema, f.Name, f.Shape)
		case f.Kind == Number && (f.DType != "" && f.DType != Float32 || len(f.Shape) > 0):
			return fmt.Errorf("%w: field %q: a number has element type %q and shape %v, want one float32", ErrSchema, f.Name, f.DType, f.Shape)
		case f.DType != "" && !f.DType.Storable():
			return fmt.Errorf("%w: field %q: unknown element type %q", ErrSchema, f.Name, f.DType)
		}
		seen[f.Name] = true
	}
	return nil
}

var kinds = []Kind{Image, Mask, Boxes, Label, MultiHot, Number, Array, Text, JSON, Bytes}

// maxElements is more than any value has, so that the product of a shape cannot overflow.
const maxElements = 1 << 40

// validShape reports whether the dimensions are sizes or -1, and the tensor is not too large.
func validShape(shape []int) bool {
	n := 1
	for _, d := range shape {
		if d < -1 || d > maxElements/max(n, 1) {
			return false
		}
		n *= max(d, 1)
	}
	return true
}

func validName(name string) bool {
	if name == "" || len(name) > 64 {
		return false
	}
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
		default:
			return false
		}
	}
	return true
}
