package pickle

import (
	"errors"
	"fmt"
	"strconv"
)

const (
	maxAxes = 64 // NumPy's limit
	maxItem = 1 << 20
)

// newDType returns the element type of that name, such as "u1".
func newDType(name any) (*dtype, error) {
	s, ok := Text(name)
	if !ok || len(s) < 2 {
		return nil, errors.New("an element type without its name")
	}
	order := "|"
	if s[0] == '<' || s[0] == '>' || s[0] == '|' || s[0] == '=' {
		order, s = s[:1], s[1:]
	}
	d := &dtype{s, order}
	if size, err := d.size(); err != nil {
		return nil, err
	} else if size > 1 && order == "|" {
		d.order = "<"
	}
	return d, nil
}

// size returns the bytes of an element.
func (d *dtype) size() (int, error) {
	if d.kind == "" || d.kind[0] == 'O' {
		return 0, errors.New("an array of Python's objects is not supported")
	}
	switch d.kind[0] {
	case 'b', 'i', 'u', 'f', 'S':
		n, err := strconv.Atoi(d.kind[1:])
		if err == nil && n > 0 && n <= maxItem {
			return n, nil
		}
	}
	if len(d.kind) > 20 {
		return 0, errors.New("unknown element type")
	}
	return 0, fmt.Errorf("the element type %q is not supported", d.kind)
}

// set takes the state (version, order, subtype, names, fields, ...).
func (d *dtype) set(state tuple) error {
	if len(state) < 5 {
		return errors.New("an element type's state is not NumPy's")
	}
	order, ok := Text(state[1])
	if !ok || order != "<" && order != ">" && order != "|" && order != "=" {
		return errors.New("an element type with a bad byte order")
	}
	if state[2] != nil || state[3] != nil || state[4] != nil {
		return errors.New("an array of records is not supported")
	}
	d.order = order
	return nil
}

// set makes a the array of that shape and type whose bytes are data.
func (a *Array) set(shape, kind any, fortran bool, data any) error {
	d, ok := kind.(*dtype)
	if !ok {
		return errors.New("an array without an element type")
	}
	each, err := d.size()
	if err != nil {
		return err
	}
	b, ok := data.([]byte)
	if !ok {
		return fmt.Errorf("an array's data are a %T, not bytes", data)
	}
	dims, err := sizes(shape)
	if err != nil {
		return err
	}
	if !fills(dims, each, len(b)) {
		return fmt.Errorf("an array of shape %v and type %s does not have %d bytes", dims, d.kind, len(b))
	}
	order := d.order
	if order == "=" {
		order = "<"
	}
	*a = Array{order + d.kind, dims, fortran, b, true}
	return nil
}

// sizes returns a shape's dimensions.
func sizes(shape any) ([]int, error) {
	if n, ok := shape.(int64); ok {
		shape = tuple{n}
	}
	s, ok := shape.(tuple)
	if !ok || len(s) > maxAxes {
		return nil, errors.New("an array without a shape")
	}
	dims := make([]int, len(s))
	for i, v := range s {
		n, ok := v.(int64)
		if !ok || n < 0 {
			return nil, errors.New("an array with a bad shape")
		}
		dims[i] = int(n)
	}
	return dims, nil
}

// fills reports whether total bytes are elements of each bytes in that shape.
func fills(dims []int, each, total int) bool {
	n := each
	for _, d := range dims {
		if d == 0 {
			return total == 0
		}
	}
	for _, d := range dims {
		if n > total/d {
			return false
		}
		n *= d
	}
	return n == total
}
