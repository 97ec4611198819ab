package mds

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/wire"
)

// kind is what values of an encoding are read as.
type kind int

const (
	other   kind = iota // bytes
	encoded             // an image file
	picture             // pixels with the header of PIL
	integer
	float
	text
	jsonText
	array
)

// kindOf returns the kind of an encoding, which may have arguments after a colon.
func kindOf(encoding string) kind {
	name, _, _ := strings.Cut(encoding, ":")
	switch name {
	case "jpeg", "png":
		return encoded
	case "pil":
		return picture
	case "int", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "str_int":
		return integer
	case "float16", "float32":
		return float
	case "str", "str_float", "str_decimal":
		return text
	case "json":
		return jsonText
	case "ndarray":
		return array
	}
	return other
}

// widths are the bytes of an element of numpy's types, and what dsconv has instead.
var widths = map[string]struct {
	size  int
	dtype formats.DType
}{
	"uint8": {1, formats.Uint8}, "int8": {1, formats.Int64}, "uint16": {2, formats.Uint16}, "int16": {2, formats.Int64},
	"uint32": {4, formats.Int64}, "int32": {4, formats.Int64}, "uint64": {8, formats.Int64}, "int64": {8, formats.Int64},
	"float16": {2, formats.Float32}, "float32": {4, formats.Float32}, "float64": {8, ""},
}

// dtypes are the numbers that ndarrays of any type have for it.
var dtypes = map[byte]string{
	8: "uint8", 9: "int8", 16: "uint16", 17: "int16", 18: "float16", 32: "uint32", 33: "int32", 34: "float32", 64: "uint64", 65: "int64", 66: "float64",
}

// integer returns the number that a column's value is.
func (c *column) integer(raw []byte) (int64, error) {
	if c.encoding == "str_int" {
		x, err := strconv.ParseInt(string(raw[:min(len(raw), 32)]), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%w: %w", formats.ErrDamaged, err)
		}
		return x, nil
	}
	name := c.encoding
	if name == "int" {
		name = "int64"
	}
	if w := widths[name]; w.size != len(raw) {
		return 0, fmt.Errorf("%w: a number of %d bytes, want %d", formats.ErrDamaged, len(raw), w.size)
	}
	return widened(name, raw)
}

// widened returns the integer that raw begins with.
func widened(name string, raw []byte) (int64, error) {
	x := wire.Int(raw[:widths[name].size], name[0] == 'i')
	if name == "uint64" && x < 0 {
		return 0, fmt.Errorf("%w: %d does not fit into int64", formats.ErrSchema, uint64(x))
	}
	return x, nil
}

// tensor is an array as it is stored.
type tensor struct {
	name  string // numpy's type
	dtype formats.DType
	shape []int
	data  []byte
}

// parseArray reads an array of the encoding ndarray[:dtype[:shape]], with its shape in shape[:0]'s memory.
func parseArray(encoding string, raw []byte, shape []int) (t tensor, err error) {
	arguments := strings.Split(encoding, ":")
	t.shape = shape[:0]
	if len(arguments) > 1 && arguments[1] != "" {
		t.name = arguments[1]
	} else if len(raw) > 0 {
		t.name, raw = dtypes[raw[0]], raw[1:]
	}
	w, ok := widths[t.name]
	if !ok || w.dtype == "" {
		return t, fmt.Errorf("%w: an array of %q", formats.ErrSchema, t.name)
	}
	if len(arguments) > 2 {
		for text := range strings.SplitSeq(arguments[2], ",") {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 {
				return t, fmt.Errorf("%w: an array of the shape %q", formats.ErrDamaged, arguments[2])
			}
			t.shape = append(t.shape, n)
		}
	} else if raw, err = t.takeShape(raw); err != nil {
		return t, err
	}
	n := w.size
	for _, d := range t.shape {
		if d < 0 || d > 0 && n > len(raw)/d {
			return t, fmt.Errorf("%w: an array of the shape %v in %d bytes", formats.ErrDamaged, t.shape, len(raw))
		}
		n *= d
	}
	if n != len(raw) {
		return t, fmt.Errorf("%w: an array of the shape %v in %d bytes", formats.ErrDamaged, t.shape, len(raw))
	}
	t.dtype, t.data = w.dtype, raw
	return t, nil
}

// takeShape takes the shape before the elements: a byte with the number of dimensions and the size of each.
func (t *tensor) takeShape(raw []byte) (rest []byte, err error) {
	if len(raw) == 0 {
		return nil, fmt.Errorf("%w: an array without a shape", formats.ErrDamaged)
	}
	axes, size := int(raw[0]>>2), 1<<(raw[0]&3)
	if raw = raw[1:]; axes*size > len(raw) {
		return nil, fmt.Errorf("%w: an array that ends within its shape", formats.ErrDamaged)
	}
	for k := range axes {
		n := uint64(wire.Int(raw[k*size:(k+1)*size], false))
		if n > math.MaxInt32 {
			return nil, fmt.Errorf("%w: an array with a dimension of %d", formats.ErrDamaged, n)
		}
		t.shape = append(t.shape, int(n))
	}
	return raw[axes*size:], nil
}

// value returns the array with elements of its dtype: as they are stored, or wider.
func (t *tensor) value() (formats.Value, error) {
	v := formats.Value{Data: t.data, Encoding: formats.Raw, DType: t.dtype, Shape: t.shape}
	w := widths[t.name]
	if w.size == t.dtype.Size() && t.name != "uint64" {
		return v, nil
	}
	v.Data = make([]byte, 0, len(t.data)/w.size*t.dtype.Size())
	for at := 0; at < len(t.data); at += w.size {
		if t.name == "float16" {
			v.Data = binary.LittleEndian.AppendUint32(v.Data, widenHalf(binary.LittleEndian.Uint16(t.data[at:])))
			continue
		}
		x, err := widened(t.name, t.data[at:at+w.size])
		if err != nil {
			return v, err
		}
		v.Data = binary.LittleEndian.AppendUint64(v.Data, uint64(x))
	}
	return v, nil
}

// widenHalf returns the bits of the float32 that is equal to a float16.
func widenHalf(h uint16) uint32 {
	sign, exponent, fraction := uint32(h>>15)<<31, uint32(h>>10)&31, uint32(h)&1023
	switch exponent {
	case 31:
		return sign | 255<<23 | fraction<<13
	case 0:
		return sign | math.Float32bits(float32(fraction)/(1<<24))
	}
	return sign | (exponent+112)<<23 | fraction<<13
}

// modes are the pixels of PIL that dsconv has.
var modes = map[string]struct {
	channels int
	dtype    formats.DType
}{"L": {1, formats.Uint8}, "RGB": {3, formats.Uint8}, "RGBA": {4, formats.Uint8}, "I;16": {1, formats.Uint16}}

// parsePIL reads an image of the encoding pil: width, height and the length of its mode, the mode, its pixels.
func parsePIL(raw []byte, shape []int) (formats.Value, error) {
	v := formats.Value{Encoding: formats.Raw}
	if len(raw) < 12 {
		return v, fmt.Errorf("%w: an image of %d bytes", formats.ErrDamaged, len(raw))
	}
	width, height, n := binary.LittleEndian.Uint32(raw), binary.LittleEndian.Uint32(raw[4:]), binary.LittleEndian.Uint32(raw[8:])
	if n > 16 || int(n) > len(raw)-12 {
		return v, fmt.Errorf("%w: an image with a mode of %d bytes", formats.ErrDamaged, n)
	}
	mode, ok := modes[string(raw[12:12+n])]
	if !ok {
		return v, fmt.Errorf("%w: an image of PIL's mode %q, and dsconv reads L, RGB, RGBA and I;16", formats.ErrSchema, raw[12:12+n])
	}
	v.Data, v.DType = raw[12+n:], mode.dtype
	if size := uint64(mode.channels * mode.dtype.Size()); width == 0 || height == 0 || uint64(width)*uint64(height) > math.MaxInt64/size ||
		uint64(width)*uint64(height)*size != uint64(len(v.Data)) {
		return v, fmt.Errorf("%w: an image of %dx%d pixels in %d bytes", formats.ErrDamaged, width, height, len(v.Data))
	}
	shape = append(shape[:0], int(height), int(width), mode.channels)
	v.Shape = shape
	return v, nil
}

// shapeOfPIL is height, width and channels of an image, zero if it cannot be read.
func shapeOfPIL(raw []byte) (shape [3]int) {
	if v, err := parsePIL(raw, nil); err == nil {
		copy(shape[:], v.Shape)
	}
	return shape
}

// decode returns the value of a column with that encoding; "number:" before it makes one float32.
func decode(as string, raw []byte, shape []int) (formats.Value, error) {
	c := column{encoding: as}
	switch kindOf(as) {
	case picture:
		return parsePIL(raw, shape)
	case array:
		t, err := parseArray(as, raw, shape)
		if err != nil {
			return formats.Value{}, err
		}
		return t.value()
	case integer:
		x, err := c.integer(raw)
		return formats.Value{Data: binary.LittleEndian.AppendUint64(nil, uint64(x)), Encoding: formats.Raw, DType: formats.Int64, Shape: shape[:0]}, err
	case float:
		w := widths[as]
		if len(raw) != w.size {
			return formats.Value{}, fmt.Errorf("%w: a number of %d bytes, want %d", formats.ErrDamaged, len(raw), w.size)
		}
		t := tensor{name: as, dtype: formats.Float32, shape: shape[:0], data: raw}
		return t.value()
	}
	return formats.Value{Data: slices.Clip(raw), Encoding: formats.Plain}, nil
}
