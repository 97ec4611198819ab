package idx

import (
	"encoding/binary"
	"fmt"

	"github.com/dsconv/dsconv/formats"
)

// header is what an IDX file begins with: two zeros, the element type, the number of dimensions, and
// each of them as four bytes, big-endian.
type header struct {
	dims []int
	size int // bytes of the header
}

// uint8Code is the type that MNIST's files have.
const uint8Code = 8

var typeNames = map[byte]string{9: "int8", 11: "int16", 12: "int32", 13: "float32", 14: "float64"}

const maxDims = 4

// headerBytes is the most that a header has.
const headerBytes = 4 + 4*maxDims

// parseHeader reads the header at the front of b.
func parseHeader(b []byte) (h header, err error) {
	if len(b) < 4 || b[0] != 0 || b[1] != 0 {
		return h, fmt.Errorf("%w: it is not an IDX file", formats.ErrDamaged)
	}
	if name, ok := typeNames[b[2]]; ok {
		return h, fmt.Errorf("%w: its elements are %s; only IDX files of uint8 are read", formats.ErrSchema, name)
	}
	if b[2] != uint8Code || b[3] == 0 {
		return h, fmt.Errorf("%w: it is not an IDX file", formats.ErrDamaged)
	}
	h.size = 4 + 4*int(b[3])
	if b[3] > maxDims {
		return h, fmt.Errorf("%w: its array has %d dimensions: images have 3 or 4, labels 1", formats.ErrSchema, b[3])
	}
	if len(b) < h.size {
		return h, fmt.Errorf("%w: it is truncated in its header", formats.ErrDamaged)
	}
	for at := 4; at < h.size; at += 4 {
		h.dims = append(h.dims, int(binary.BigEndian.Uint32(b[at:])))
	}
	return h, nil
}

// total returns the bytes of the whole file; ok is false if they are more than limit.
func (h *header) total(limit int64) (n int64, ok bool) {
	n = 1
	for _, d := range h.dims {
		if d == 0 {
			return int64(h.size), true
		}
	}
	for _, d := range h.dims {
		if n > limit/int64(d) {
			return 0, false
		}
		n *= int64(d)
	}
	n += int64(h.size)
	return n, n <= limit
}

// check compares the header with the size of the file, decompressed.
func (h *header) check(size int64) error {
	want, ok := h.total(size)
	switch {
	case !ok:
		return fmt.Errorf("%w: its header claims an array of %v, but it has %d bytes: it is truncated", formats.ErrDamaged, h.dims, size)
	case want != size:
		return fmt.Errorf("%w: %d bytes follow its array of %v", formats.ErrDamaged, size-want, h.dims)
	}
	return nil
}
