package shard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/labels"
	"github.com/dsconv/dsconv/internal/storage/foreign"
	"github.com/dsconv/dsconv/internal/storage/mapped"
	"github.com/dsconv/dsconv/internal/storage/npy"
)

// scanner finds the samples of one tar.
type scanner struct {
	fields *fields
	scan   *foreign.Scan
	part   part
	data   []byte
	file   int
	sample foreign.Sample
	open   bool
	bad    error // why the sample has no label that can be read
}

// scan adds the samples of all tars.
func (f *fields) scan(ctx context.Context, scan *foreign.Scan, parts []part) error {
	first := slices.IndexFunc(scan.Files, func(m *mapped.Mapping) bool { return len(m.Data) > 0 })
	f.dotted = first >= 0 && isDotted(scan.Files[first].Data)
	for k, p := range parts {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s := &scanner{fields: f, scan: scan, part: p, data: scan.Files[k].Data, file: k}
		if len(s.data) == 0 {
			if err := scan.Skip(p.Name, "this tar is empty, without an end mark: copy or download it again"); err != nil {
				return err
			}
			continue
		}
		err := eachMember(s.data, s.member, func(name, what string) error { return scan.Skip(p.Name+"/"+name, what) })
		if err == nil {
			err = s.flush()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.Path, err)
		}
	}
	return nil
}

// flush adds the sample whose members came one after the other.
func (s *scanner) flush() error {
	if !s.open {
		return nil
	}
	s.open = false
	if s.bad != nil {
		return s.scan.SkipBad(s.part.Name+"/"+s.sample.Key, s.bad)
	}
	return s.scan.Add(&s.sample)
}

func (s *scanner) begin(key string) {
	s.sample = foreign.Sample{Key: key, Split: s.part.split, File: s.file, Label: formats.NoLabel, Values: s.sample.Values[:0]}
	s.open, s.bad = true, nil
}

// member adds a member to its sample.
func (s *scanner) member(name string, offset, size int64) error {
	if isMeta(name) {
		return nil
	}
	split := splitName
	if s.fields.dotted {
		split = splitDotted
	}
	key, ext, ok := split(name)
	if !ok {
		return s.scan.Skip(s.part.Name+"/"+name, "its name has no extension, or begins with a dot")
	}
	column, err := s.scan.Column(ext)
	if err != nil {
		return err
	}
	if !s.open || s.sample.Key != key || s.sample.Has(column) {
		if err := s.flush(); err != nil {
			return err
		}
		s.begin(key)
	}
	raw := s.data[offset : offset+size]
	v := foreign.Value{Column: column, Offset: offset, Length: size}
	switch {
	case isImage(ext):
		v.Encoding = formats.Sniff(raw[:min(len(raw), 16)])
		if s.sample.Path == "" && v.Encoding != "" {
			s.sample.Path = strings.TrimPrefix(name, "./")
		}
	case lastPart(ext) == "npy":
		if t, shape, _, err := npy.Parse(raw); err == nil {
			v.Tensor = &foreign.Tensor{DType: t, Shape: shape}
		}
	}
	s.sample.Values = append(s.sample.Values, v)
	if ext == s.fields.labelExtension() {
		if s.sample.Class, err = s.fields.class(raw); err != nil {
			s.bad = fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// maxClass is the longest name of a class, in bytes.
const maxClass = 1024

// class returns the class in a member that has the label.
func (f *fields) class(raw []byte) (string, error) {
	text := string(bytes.TrimSpace(raw[:min(len(raw), maxClass+64)]))
	if len(f.labelPath) > 0 {
		var err error
		if text, err = lookUp(raw, f.labelPath); err != nil {
			return "", err
		}
	}
	if len(text) > maxClass {
		return "", fmt.Errorf("%w: a class of %d bytes: name what has the label by a map, such as label=json.class", formats.ErrSchema, len(raw))
	}
	if text == "-1" {
		return "", nil
	}
	return text, nil
}

// maxJSON is the largest JSON that a label is looked for in.
const maxJSON = 16 << 20

// lookUp returns the text or the number at a place in JSON, "" if it is not there or null.
func lookUp(raw []byte, path []string) (string, error) {
	if len(raw) > maxJSON {
		return "", fmt.Errorf("%w: it has %d bytes, the limit for a label is %d", formats.ErrDamaged, len(raw), maxJSON)
	}
	for _, name := range path {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(raw, &object); err != nil {
			return "", fmt.Errorf("%w: there is no object that could have %q: %w", formats.ErrDamaged, strings.Join(path, "."), err)
		}
		value, ok := object[name]
		if !ok {
			return "", nil
		}
		raw = value
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return "", fmt.Errorf("%w: %w", formats.ErrDamaged, err)
	}
	switch v := value.(type) {
	case nil:
		return "", nil
	case string:
		return strings.TrimSpace(v), nil
	case bool:
		return strconv.FormatBool(v), nil
	case json.Number:
		return v.String(), nil
	}
	return "", fmt.Errorf("%w: %s is a list or an object, and a label is one text or number", formats.ErrSchema, strings.Join(path, "."))
}

// decodeMember returns a value whose bytes are those of an .npy file, or a vector.
func decodeMember(as string, raw []byte, shape []int) (formats.Value, error) {
	if as == vector {
		hot, err := labels.Hot(string(raw))
		return formats.Value{Data: hot, Encoding: formats.Raw, DType: formats.Uint8, Shape: append(shape[:0], len(hot))}, err
	}
	var p npy.Parser
	t, shape, offset, err := p.Parse(raw, shape)
	if err != nil {
		return formats.Value{}, errors.Join(formats.ErrDamaged, err)
	}
	return formats.Value{Data: raw[offset:], Encoding: formats.Raw, DType: t, Shape: shape}, nil
}
