// Package npy writes and reads the header of NumPy's .npy files, version 1.0: magic,
// version, the header's length, and a Python literal of element type, order and shape,
// padded so that the elements start at a multiple of 64 bytes. The layout is that of
// NEP 1 (https://numpy.org/neps/nep-0001-npy-format.html).
package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/dsconv/dsconv/formats"
)

const (
	magic   = "\x93NUMPY\x01\x00"
	prefix  = len(magic) + 2 // magic, version, length of the literal
	align   = 64
	maxAxes = 32 // the limit of NumPy before version 2
)

var (
	errHeader  = errors.New("not an .npy header that dsconv can read")
	errFortran = fmt.Errorf("%w: the array is in Fortran order; save it in C order", errHeader)
)

var descr = map[formats.DType]string{
	formats.Uint8: "|u1", formats.Uint16: "<u2", formats.Int64: "<i8", formats.Float32: "<f4",
}

// AppendHeader appends the header of an array of t with that shape in C order; an empty shape
// is a scalar. The raw elements must follow it. t must be storable.
func AppendHeader(b []byte, t formats.DType, shape []int) []byte {
	start := len(b)
	b = append(b, magic...)
	b = append(b, 0, 0)
	b = append(b, "{'descr': '"...)
	b = append(b, descr[t]...)
	b = append(b, "', 'fortran_order': False, 'shape': ("...)
	for i, n := range shape {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	if len(shape) == 1 {
		b = append(b, ',')
	}
	b = append(b, "), }"...)
	for (len(b)-start+1)%align != 0 {
		b = append(b, ' ')
	}
	b = append(b, '\n')
	binary.LittleEndian.PutUint16(b[start+len(magic):], uint16(len(b)-start-prefix))
	return b
}

// Parse reads the header at the front of b and returns the offset of the first element.
// It is an error if the elements are not exactly the rest of b. For files of other programs
// (Fortran order, other types) the error says what is not supported.
func Parse(b []byte) (t formats.DType, shape []int, offset int, err error) {
	if t, shape, offset, err = ParseHeader(b); err != nil {
		return "", nil, 0, err
	}
	if n, ok := byteSize(shape, t.Size(), len(b)); !ok || n != len(b)-offset {
		return "", nil, 0, fmt.Errorf("%w: %s of shape %v does not have %d bytes", errHeader, t, shape, len(b)-offset)
	}
	return t, shape, offset, nil
}

// Parser is Parse for many arrays, most of which have the same header as the one before:
// comparing is faster than parsing. The zero value is ready for use. It is safe for concurrent
// use.
type Parser struct {
	last atomic.Pointer[parsed]
}

// parsed is a header and its parsed values.
type parsed struct {
	header string
	dtype  formats.DType
	shape  []int
	size   int // of header and elements
}

// Parse is the package's Parse; the shape is appended to buf[:0].
func (p *Parser) Parse(b []byte, buf []int) (t formats.DType, shape []int, offset int, err error) {
	h := p.last.Load()
	if h == nil || h.size != len(b) || string(b[:len(h.header)]) != h.header {
		if t, shape, offset, err = Parse(b); err != nil {
			return "", nil, 0, err
		}
		h = &parsed{string(b[:offset]), t, shape, len(b)}
		p.last.Store(h)
	}
	return h.dtype, append(buf[:0], h.shape...), len(h.header), nil
}

// ParseHeader is Parse for a header whose elements are elsewhere: the rest of b is ignored.
func ParseHeader(b []byte) (t formats.DType, shape []int, offset int, err error) {
	if len(b) < prefix || string(b[:len(magic)]) != magic {
		return "", nil, 0, errHeader
	}
	h, err := ReadHeader(b)
	if err != nil {
		return "", nil, 0, err
	}
	if h.fortran {
		return "", nil, 0, errFortran
	}
	for t, d := range descr {
		if d == h.Descr {
			return t, h.Shape, h.offset, nil
		}
	}
	return "", nil, 0, fmt.Errorf("%w: the element type is not uint8, uint16, int64 or float32", errHeader)
}

// byteSize returns the number of bytes of the array; ok is false if it exceeds limit.
func byteSize(shape []int, size, limit int) (n int, ok bool) {
	n = size
	for _, d := range shape {
		if d == 0 {
			return 0, true
		}
	}
	for _, d := range shape {
		if n > limit/d {
			return 0, false
		}
		n *= d
	}
	return n, true
}

// parseLiteral reads "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2), }" with
// the entries in any order.
func parseLiteral(s string) (h Header, err error) {
	s, ok := strings.CutPrefix(strings.TrimSpace(s), "{")
	if !ok {
		return h, errHeader
	}
	seen := map[string]bool{}
	for {
		s = strings.TrimLeft(s, " ,")
		if s == "}" {
			break
		}
		name, rest, ok := strings.Cut(s, ":")
		if !ok || seen[name] {
			return h, errHeader
		}
		seen[name] = true
		rest = strings.TrimLeft(rest, " ")
		switch name {
		case "'descr'":
			h.Descr, s, err = parseType(rest)
		case "'fortran_order'":
			h.fortran, s, err = parseBool(rest)
		case "'shape'":
			h.Shape, s, err = parseShape(rest)
		default:
			err = errHeader
		}
		if err != nil {
			return h, err
		}
	}
	if len(seen) != 3 {
		return h, errHeader
	}
	return h, nil
}

func parseType(s string) (name, rest string, err error) {
	if s, ok := strings.CutPrefix(s, "'"); ok {
		if name, rest, ok = strings.Cut(s, "'"); ok && len(name) <= maxType {
			return name, rest, nil
		}
	}
	return "", "", fmt.Errorf("%w: its elements are records, not numbers", errHeader)
}

func parseBool(s string) (value bool, rest string, err error) {
	if rest, ok := strings.CutPrefix(s, "False"); ok {
		return false, rest, nil
	}
	if rest, ok := strings.CutPrefix(s, "True"); ok {
		return true, rest, nil
	}
	return false, "", errHeader
}

func parseShape(s string) ([]int, string, error) {
	body, ok := strings.CutPrefix(s, "(")
	if !ok {
		return nil, "", errHeader
	}
	body, rest, ok := strings.Cut(body, ")")
	if !ok {
		return nil, "", errHeader
	}
	shape := []int{}
	for size := range strings.SplitSeq(strings.TrimSuffix(body, ","), ",") {
		if size = strings.TrimSpace(size); size == "" && body == "" {
			break
		}
		n, err := strconv.ParseUint(size, 10, 48)
		if err != nil || len(shape) == maxAxes {
			return nil, "", errHeader
		}
		shape = append(shape, int(n))
	}
	return shape, rest, nil
}

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
