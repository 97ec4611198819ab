package shard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

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

// maxName is the maximum length of a sample's name in bytes.
const maxName = 3 * formats.MaxKey

const hexDigits = "0123456789ABCDEF"

// appendName appends the sample's name, the common start of its member names; see the package's
// documentation.
func appendName(b []byte, key string) []byte {
	last := strings.LastIndexByte(key, '/') + 1
	meta := strings.HasPrefix(key, "__")
	for i := range len(key) {
		c := key[i]
		switch {
		case c == '%', c < ' ', c == 0x7f, c == '.' && i >= last, meta && i == 0:
			b = append(b, '%', hexDigits[c>>4], hexDigits[c&15])
		default:
			b = append(b, c)
		}
	}
	return b
}

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
