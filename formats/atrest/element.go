package atrest

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/dsconv/dsconv/formats"
)

// ElementType tells the element type of a tensor of shape that takes size bytes: no two
// types have elements of one size. It is "" if none fits or the tensor is empty.
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

// frames decodes frames that do not tell their content's size, which are small: encoders
// leave it out below 256 bytes. It has no goroutines.
var smallFrames = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(1<<20))
})

// FrameType is the element type of what a zstd frame of field f and that shape holds: the
// field's, else what the content's size tells, "" if it is no whole frame. Where the
// frame's header does not tell that size, as in small frames, it is decoded.
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

// CheckFrame reports that FrameType could not tell the element type of v, a value of
// field f, where only the frame is stored.
func CheckFrame(f *formats.Field, v *formats.Value) error {
	if v.Encoding == formats.RawZstd && FrameDType(f, v.Shape, v.Data) != v.DType {
		return fmt.Errorf("%w: field %s: the zstd frame does not tell how many bytes of %s it holds", formats.ErrSchema, f.Name, v.DType)
	}
	return nil
}
