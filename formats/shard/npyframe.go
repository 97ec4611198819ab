package shard

import (
	"bytes"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/npy"
)

// A raw+zstd tensor is two zstd frames: this one with the .npy header, and the value's own.
// A frame of one raw block (RFC 8878) is magic, descriptor (single segment), content size,
// block header (last, raw, size << 3), content.

const (
	frameMagic  = "\x28\xb5\x2f\xfd\x20"
	frameHeader = len(frameMagic) + 1 + 3
)

// appendHeaderFrame appends the frame with the .npy header, which is shorter than 256 bytes for
// an image.
func appendHeaderFrame(b []byte, t formats.DType, shape []int) []byte {
	from := len(b)
	b = append(b, frameMagic...)
	b = append(b, 0, 0, 0, 0)
	b = npy.AppendHeader(b, t, shape)
	n := len(b) - from - frameHeader
	size, block := b[from+len(frameMagic):], b[from+len(frameMagic)+1:]
	size[0] = byte(n)
	block[0], block[1] = 1|byte(n<<3), byte(n>>5)
	return b
}

// parseHeaderFrame reads the first frame of data into v and returns the rest.
func parseHeaderFrame(v *formats.Value, data []byte) ([]byte, error) {
	if len(data) < frameHeader || !bytes.HasPrefix(data, []byte(frameMagic)) {
		return nil, fmt.Errorf("%w: not the frame of an .npy header", formats.ErrDamaged)
	}
	n := int(data[len(frameMagic)])
	block := data[len(frameMagic)+1:]
	if block[0] != 1|byte(n<<3) || block[1] != byte(n>>5) || block[2] != 0 || len(data)-frameHeader < n {
		return nil, fmt.Errorf("%w: not the frame of an .npy header", formats.ErrDamaged)
	}
	header := data[frameHeader : frameHeader+n]
	t, shape, offset, err := npy.ParseHeader(header)
	if err != nil {
		return nil, formats.WrapDamaged(err)
	}
	if offset != n {
		return nil, fmt.Errorf("%w: an .npy header of %d bytes in a frame of %d", formats.ErrDamaged, offset, n)
	}
	v.DType, v.Shape = t, append(v.Shape, shape...)
	return data[frameHeader+n:], nil
}
