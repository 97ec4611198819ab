package npy

import (
	"encoding/binary"
	"fmt"
)

// Header describes the array of any .npy file, of versions 1.0 to 3.0.
type Header struct {
	// Descr is NumPy's name of the element type, such as "|u1" or "<i8"; "|O" is Python's objects.
	Descr   string
	Shape   []int
	fortran bool // the first axis changes fastest
	offset  int  // of the first element
}

const (
	anyMagic  = "\x93NUMPY"
	maxHeader = 1 << 16 // the longest that is read
	maxType   = 32
)

// ReadHeader reads the header at the front of b, which need not have the elements.
func ReadHeader(b []byte) (h Header, err error) {
	if len(b) < prefix || string(b[:len(anyMagic)]) != anyMagic {
		return h, errHeader
	}
	from := prefix
	size := int(binary.LittleEndian.Uint16(b[len(magic):]))
	switch version := b[len(anyMagic)]; {
	case version == 2 || version == 3:
		if from += 2; len(b) < from {
			return h, fmt.Errorf("%w: it is truncated", errHeader)
		}
		size = int(binary.LittleEndian.Uint32(b[len(magic):]))
	case version != 1:
		return h, fmt.Errorf("%w: it has version %d of the format", errHeader, version)
	}
	if size > maxHeader-from || len(b) < from+size {
		return h, fmt.Errorf("%w: it is truncated", errHeader)
	}
	h, err = parseLiteral(string(b[from : from+size]))
	h.offset = from + size
	return h, err
}

// Elements returns the elements in b, the whole file, of size bytes each. It is an error if they are not exactly what
// follows the header, or in Fortran order.
func (h Header) Elements(b []byte, size int) ([]byte, error) {
	if h.fortran {
		return nil, errFortran
	}
	if n, ok := byteSize(h.Shape, size, len(b)); !ok || n != len(b)-h.offset {
		return nil, fmt.Errorf("%w: %q of shape %v does not have %d bytes", errHeader, h.Descr, h.Shape, len(b)-h.offset)
	}
	return b[h.offset:], nil
}
