package ilsvrc

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"slices"
)

// matValue is a cell of a struct: a text or numbers. Cells of other kinds are empty.
type matValue struct {
	Text    string
	numbers []float64
}

// Number returns the cell's only number.
func (v matValue) Number() (x float64, ok bool) {
	if len(v.numbers) != 1 {
		return 0, false
	}
	return v.numbers[0], true
}

const (
	headerSize   = 128
	maxUnpacked  = 64 << 20
	maxStructs   = 1 << 20
	maxFields    = 1024
	maxTextBytes = 1 << 20
)

var errShort = errors.New("the MAT-file is damaged: it ends within an element")

// matStructs returns the named fields of each element of the array of structs with that name, in the order of fields.
func matStructs(b []byte, name string, fields ...string) ([][]matValue, error) {
	r, err := newReader(b)
	if err != nil {
		return nil, err
	}
	left := maxUnpacked
	for len(r.b) > 0 {
		e, err := r.next()
		if err != nil {
			return nil, err
		}
		if e.kind == kindCompressed {
			if e, err = r.inflate(e, &left); err != nil {
				return nil, err
			}
		}
		if e.kind != kindMatrix {
			continue
		}
		m, err := parseMatrix(e.reader())
		if err != nil {
			return nil, err
		}
		if m.name == name {
			return m.structs(fields)
		}
	}
	return nil, fmt.Errorf("the MAT-file has no variable %s", name)
}

func newReader(b []byte) (reader, error) {
	if bytes.HasPrefix(b, []byte("MATLAB 7.3")) {
		return reader{}, errors.New("a MAT-file of MATLAB 7.3, which is not read: save it with -v7")
	}
	if len(b) < headerSize {
		return reader{}, errors.New("not a MAT-file of MATLAB 5 to 7.2")
	}
	r := reader{b: b[headerSize:]}
	switch string(b[126:128]) {
	case "IM":
	case "MI":
		r.bigEndian = true
	default:
		return r, errors.New("not a MAT-file of MATLAB 5 to 7.2")
	}
	return r, nil
}

// inflate returns the element that a compressed one holds; left bounds what the file's elements may hold in all.
func (r *reader) inflate(e element, left *int) (element, error) {
	z, err := zlib.NewReader(bytes.NewReader(e.data))
	if err != nil {
		return e, fmt.Errorf("the MAT-file is damaged: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(z, int64(*left)+1))
	if err != nil {
		return e, fmt.Errorf("the MAT-file is damaged: %w", err)
	}
	if *left -= len(data); *left < 0 {
		return e, fmt.Errorf("the MAT-file holds more than %d bytes", maxUnpacked)
	}
	inner := reader{data, r.bigEndian}
	return inner.next()
}

// structs returns the named fields of all elements.
func (m *matrix) structs(fields []string) ([][]matValue, error) {
	if m.class != classStruct {
		return nil, fmt.Errorf("%s is not an array of structs", m.name)
	}
	names, err := m.fieldNames()
	if err != nil {
		return nil, err
	}
	columns := make([]int, len(names)) // in the result; -1 is not asked for
	for i, name := range names {
		columns[i] = slices.Index(fields, name)
	}
	for _, field := range fields {
		if !slices.Contains(names, field) {
			return nil, fmt.Errorf("%s has no field %s", m.name, field)
		}
	}
	// Each value needs a tag of 8 bytes at least.
	if m.count > maxStructs || m.count*len(names) > len(m.rest.b)/8 {
		return nil, errShort
	}
	rows := make([][]matValue, m.count)
	for i := range rows {
		rows[i] = make([]matValue, len(fields))
		for _, column := range columns {
			e, err := m.rest.next()
			if err != nil {
				return nil, err
			}
			if column < 0 || e.kind != kindMatrix || len(e.data) == 0 {
				continue
			}
			if rows[i][column], err = parseValue(e.reader()); err != nil {
				return nil, err
			}
		}
	}
	return rows, nil
}

// fieldNames reads the names of a struct's fields, which are padded to one length.
func (m *matrix) fieldNames() ([]string, error) {
	length, err := m.rest.next()
	if err != nil {
		return nil, err
	}
	sizes := length.numbers()
	all, err := m.rest.next()
	if err != nil {
		return nil, err
	}
	if len(sizes) != 1 || sizes[0] < 1 || sizes[0] > maxTextBytes {
		return nil, errShort
	}
	size := int(sizes[0])
	if len(all.data)%size != 0 || len(all.data)/size > maxFields || len(all.data) == 0 {
		return nil, errShort
	}
	var names []string
	for part := range slices.Chunk(all.data, size) {
		names = append(names, string(bytes.TrimRight(part, "\x00")))
	}
	return names, nil
}

func parseValue(r reader) (matValue, error) {
	m, err := parseMatrix(r)
	if err != nil || m.class == classCell || m.class == classStruct || m.class == classObject || m.class == classSparse {
		return matValue{}, err
	}
	if len(m.rest.b) == 0 {
		return matValue{}, nil // an empty matrix
	}
	e, err := m.rest.next()
	if err != nil {
		return matValue{}, err
	}
	if m.class == classChar {
		return matValue{Text: e.text()}, nil
	}
	return matValue{numbers: e.numbers()}, nil
}
