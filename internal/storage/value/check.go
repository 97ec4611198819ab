package value

import (
	"fmt"
	"slices"

	"github.com/dsconv/dsconv/formats"
)

// CheckValue reports why v cannot be a value of field f: an encoding that the kind does
// not allow, a label that is not an int64, a raw tensor whose bytes, shape and element type
// disagree with each other or with those of the field.
func CheckValue(f *formats.Field, v *formats.Value) error {
	if !encodingAllowed(f.Kind, v.Encoding) {
		return fmt.Errorf("%w: field %s of kind %s cannot have the encoding %q", formats.ErrSchema, f.Name, f.Kind, v.Encoding)
	}
	if f.Kind == formats.Label {
		if _, ok := v.Int64(); !ok {
			return fmt.Errorf("%w: field %s: a label of %d bytes and type %q, want one int64", formats.ErrSchema, f.Name, len(v.Data), v.DType)
		}
		return nil
	}
	if v.Encoding != formats.Raw && v.Encoding != formats.RawZstd {
		return nil
	}
	if !matchesKind(f.Kind, v) {
		return fmt.Errorf("%w: field %s of kind %s cannot be %s of shape %v", formats.ErrSchema, f.Name, f.Kind, v.DType, v.Shape)
	}
	if !matchesShape(f.Shape, v.Shape) || f.DType != "" && v.DType != f.DType {
		return fmt.Errorf("%w: field %s: the value is %s of shape %v, the schema says %s %v", formats.ErrSchema, f.Name, v.DType, v.Shape, f.DType, f.Shape)
	}
	n := v.DType.Size()
	for _, d := range v.Shape {
		if d < 0 || d > 0 && n > 1<<40/d {
			return fmt.Errorf("%w: field %s: impossible shape %v", formats.ErrSchema, f.Name, v.Shape)
		}
		n *= d
	}
	if !v.DType.Storable() || v.Encoding == formats.Raw && n != len(v.Data) {
		return fmt.Errorf("%w: field %s: %d bytes are not a tensor of %s with shape %v", formats.ErrSchema, f.Name, len(v.Data), v.DType, v.Shape)
	}
	return nil
}

func encodingAllowed(k formats.Kind, e formats.Encoding) bool {
	switch k {
	case formats.Image, formats.Mask:
		return e.Extension() != ""
	case formats.Text, formats.JSON, formats.Bytes:
		return e == formats.Plain
	}
	return e == formats.Raw
}

// matchesKind reports whether element type and number of dimensions are those of the kind.
func matchesKind(k formats.Kind, v *formats.Value) bool {
	switch k {
	case formats.Image, formats.Mask:
		return len(v.Shape) == 3
	case formats.Boxes:
		return v.DType == formats.Float32 && len(v.Shape) == 2 && v.Shape[1] == 4
	case formats.Number:
		return v.DType == formats.Float32 && len(v.Shape) == 0
	case formats.MultiHot:
		return v.DType == formats.Uint8 && len(v.Shape) == 1
	}
	return true
}

func matchesShape(fixed, shape []int) bool {
	if fixed == nil {
		return true
	}
	return slices.EqualFunc(fixed, shape, func(f, d int) bool { return f < 0 || f == d })
}
