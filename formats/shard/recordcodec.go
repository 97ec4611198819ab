package shard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/npy"
	"github.com/dsconv/dsconv/internal/storage/value"
)

// encoder encodes samples as tar members. It reuses its memory for each sample.
type encoder struct {
	slots   []slot
	columns []string

	name  []byte
	head  []byte // headers and small contents; parts points into it
	parts [][]byte
}

// encode returns the parts of the record in order; they point into s and into
// memory that the next call reuses.
func (e *encoder) encode(s *formats.Sample) ([][]byte, error) {
	e.head, e.parts = e.head[:0], e.parts[:0]
	e.name = appendName(e.name[:0], s.Key)
	stem := len(e.name)
	for i := range e.slots {
		sl := &e.slots[i]
		e.name = append(e.name[:stem], sl.suffix...)
		if err := e.encodeSlot(sl, s); err != nil {
			return nil, err
		}
	}
	return e.parts, nil
}

func (e *encoder) encodeSlot(sl *slot, s *formats.Sample) error {
	if sl.field == columns {
		content, err := e.object(s.Columns)
		e.add(content, nil)
		return err
	}
	v := &s.Values[sl.field]
	switch sl.kind {
	case formats.Label:
		if x, _ := v.Int64(); x != formats.NoLabel {
			var digits [20]byte
			e.add(strconv.AppendInt(digits[:0], x, 10), nil)
		}
		return nil
	case formats.Image, formats.Mask:
		e.name = append(e.name, v.Encoding.Extension()...)
	}
	var header [256]byte
	switch v.Encoding {
	case formats.Raw:
		e.add(npy.AppendHeader(header[:0], v.DType, v.Shape), v.Data)
	case formats.RawZstd:
		e.add(appendHeaderFrame(header[:0], v.DType, v.Shape), v.Data)
	default:
		e.add(nil, v.Data)
	}
	return nil
}

// add adds the member e.name with the content small followed by data; small is copied.
func (e *encoder) add(small, data []byte) {
	from := len(e.head)
	size := len(small) + len(data)
	e.head = appendMember(e.head, e.name, size)
	e.head = append(e.head, small...)
	e.parts = append(e.parts, e.head[from:len(e.head):len(e.head)], data, zeros[:padding(size)])
}

// object returns the user's columns as a JSON object, in their order.
func (e *encoder) object(values []string) ([]byte, error) {
	b := bytes.NewBuffer([]byte{'{'})
	j := json.NewEncoder(b)
	j.SetEscapeHTML(false)
	for i, name := range e.columns {
		if i > 0 {
			b.WriteString(", ")
		}
		if err := j.Encode(name); err != nil {
			return nil, err
		}
		b.Truncate(b.Len() - 1) // the encoder ends with a newline
		b.WriteString(": ")
		if err := j.Encode(values[i]); err != nil {
			return nil, err
		}
		b.Truncate(b.Len() - 1)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// decode fills s from the record of the sample s.Key. With lend the values' Data point
// into rec, else they are copied to s's own buffers.
func decode(slots []slot, rec []byte, s *formats.Sample, lend bool) error {
	var stem [maxName]byte
	name := appendName(stem[:0], s.Key)
	next := 0
	for m, err := range members(rec) {
		if err != nil {
			return err
		}
		rest, ok := bytes.CutPrefix(m.name, name)
		if !ok {
			return fmt.Errorf("%w: unexpected tar member %q", formats.ErrDamaged, m.name)
		}
		enc, ok := formats.Encoding(""), false
		for ; next < len(slots) && !ok; next++ {
			if enc, ok = slots[next].match(rest); !ok {
				if err := slots[next].setMissing(s, lend); err != nil {
					return err
				}
			}
		}
		if !ok {
			return fmt.Errorf("%w: unexpected tar member %q", formats.ErrDamaged, m.name)
		}
		if err := slots[next-1].decode(m.data, enc, s, lend); err != nil {
			return fmt.Errorf("%w: member %q", err, m.name)
		}
	}
	for ; next < len(slots); next++ {
		if err := slots[next].setMissing(s, lend); err != nil {
			return err
		}
	}
	return nil
}

// setMissing handles a missing member: a sample without that label, or damage.
func (sl *slot) setMissing(s *formats.Sample, lend bool) error {
	if !sl.optional {
		return fmt.Errorf("%w: the tar member %q is missing", formats.ErrDamaged, sl.suffix)
	}
	value.SetLabel(&s.Values[sl.field], formats.NoLabel, lend)
	return nil
}

func (sl *slot) decode(data []byte, enc formats.Encoding, s *formats.Sample, lend bool) error {
	if sl.field == columns {
		return nil // the manifest has them
	}
	v := &s.Values[sl.field]
	v.Encoding, v.DType = enc, ""
	v.SetShape()
	var err error
	switch {
	case sl.kind == formats.Label:
		x, err := strconv.ParseInt(string(data), 10, 64)
		if err != nil {
			return fmt.Errorf("%w: the label %q is not a number", formats.ErrDamaged, data)
		}
		value.SetLabel(v, x, lend)
		return nil
	case enc == formats.Raw:
		data, err = sl.parseRaw(v, data)
	case enc == formats.RawZstd:
		data, err = parseHeaderFrame(v, data)
	}
	if err != nil {
		return err
	}
	if lend {
		v.Data = data
	} else {
		v.Copy(data)
	}
	return nil
}

// parseRaw reads the .npy header of data into v and returns the rest.
func (sl *slot) parseRaw(v *formats.Value, data []byte) (_ []byte, err error) {
	var offset int
	var shape []int
	if v.DType, shape, offset, err = sl.headers.Parse(data, v.Shape); err != nil {
		return nil, formats.WrapDamaged(err)
	}
	v.SetShape(shape...)
	return data[offset:], nil
}
