package value

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/dsconv/dsconv/formats"
)

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
