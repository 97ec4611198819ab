package atrest

import (
	"sync"

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

// frames decodes frames that do not tell their content's size; it has no goroutines.
var frames = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
})

// FrameType is ElementType of what a zstd frame holds, "" if it is no whole frame. Where
// the header does not tell the content's size, as in small frames, it is decoded.
func FrameType(shape []int, frame []byte) formats.DType {
	var h zstd.Header
	if h.Decode(frame) != nil {
		return ""
	}
	if h.HasFCS {
		return ElementType(shape, h.FrameContentSize)
	}
	d, err := frames()
	if err != nil {
		return ""
	}
	b, err := d.DecodeAll(frame, nil)
	if err != nil {
		return ""
	}
	return ElementType(shape, uint64(len(b)))
}
