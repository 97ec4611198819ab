package atrest

import (
	"github.com/klauspost/compress/zstd"

	"github.com/dsconv/dsconv/formats"
)

// ElementType tells the element type of a tensor of shape that takes size bytes: no two
// types have elements of one size. It is "" if none fits or the tensor is empty.
func ElementType(shape []int, size uint64) formats.DType {
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

// FrameType is ElementType of what a zstd frame holds by its header, "" if the frame does
// not tell its content's size.
func FrameType(shape []int, frame []byte) formats.DType {
	var h zstd.Header
	if h.Decode(frame) != nil || !h.HasFCS {
		return ""
	}
	return ElementType(shape, h.FrameContentSize)
}
