package value

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

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

// SetLabel sets v to the class index x. With lent, as in View, it allocates instead of writing to
// the memory of an earlier Read.
func SetLabel(v *formats.Value, x int64, lent bool) {
	if !lent {
		v.SetInt64(x)
		return
	}
	v.Data = binary.LittleEndian.AppendUint64(nil, uint64(x))
	v.Encoding, v.DType = formats.Raw, formats.Int64
	v.SetShape()
}

// InferDType returns the element type of a tensor with that shape and size in bytes: no two
// types have elements of the same size. It is "" if no type matches or the tensor is empty.
func InferDType(shape []int, size uint64) formats.DType {
	n := uint64(1)
	for _, d := range shape {
		n *= uint64(d)
	}
	if n == 0 {
		return ""
	}
	for _, t := range []formats.DType{formats.Uint8, formats.Uint16, formats.Float32, formats.Int64} {
		if size == n*uint64(t.Size()) {
			return t
		}
	}
	return ""
}

// smallFrames decodes frames whose header lacks the content's size. Those are small: encoders
// omit it below 256 bytes. The decoder has no goroutines.
var smallFrames = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(1<<20))
})

// FrameDType returns the element type of the tensor in a zstd frame: the field's, else the one
// inferred from shape and content size, "" if the frame is not valid. Frames without that size
// in their header, which are small, are decoded.
func FrameDType(f *formats.Field, shape []int, frame []byte) formats.DType {
	if f.DType != "" {
		return f.DType
	}
	var h zstd.Header
	if h.Decode(frame) != nil {
		return ""
	}
	if h.HasFCS {
		return InferDType(shape, h.FrameContentSize)
	}
	d, err := smallFrames()
	if err != nil {
		return ""
	}
	b, err := d.DecodeAll(frame, nil)
	if err != nil {
		return ""
	}
	return InferDType(shape, uint64(len(b)))
}

// CheckFrame returns an error if FrameDType could not restore the element type of v, a value of
// field f, from the stored frame.
func CheckFrame(f *formats.Field, v *formats.Value) error {
	if v.Encoding == formats.RawZstd && FrameDType(f, v.Shape, v.Data) != v.DType {
		return fmt.Errorf("%w: field %s: the size of the zstd frame's content does not match %s of shape %v", formats.ErrSchema, f.Name, v.DType, v.Shape)
	}
	return nil
}
