package sheet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// readJSON reads a list of objects, a list of pairs of path and label, or one object whose names are paths and
// whose values are labels. Any of them may be the only value of an object: {"labels": [...]}.
func readJSON(b []byte) (*Sheet, error) {
	trimmed := bytes.TrimSpace(b)
	if len(trimmed) == 0 {
		return nil, errors.New("it is empty")
	}
	if !json.Valid(trimmed) {
		var any json.RawMessage
		return nil, fmt.Errorf("it is not JSON, and not a description of labels: %w", json.Unmarshal(trimmed, &any))
	}
	if trimmed[0] == '[' {
		return readJSONList(b, trimmed)
	}
	if trimmed[0] != '{' {
		return nil, errJSON
	}
	s, lists, err := readJSONObject(b, trimmed)
	if err != nil || s != nil {
		return s, err
	}
	if len(lists) == 1 {
		return readJSONList(b, lists[0])
	}
	return nil, errJSON
}

var errJSON = errors.New(`it is not a description of labels that dsconv unpack wrote, not a list such as [{"file_name": "a.jpg", "label": "cat"}], and not an object such as {"a.jpg": "cat"}`)

// readJSONList reads a list of objects or of pairs.
func readJSONList(b, list []byte) (*Sheet, error) {
	d := json.NewDecoder(bytes.NewReader(list))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	var r jsonRows
	start := bytes.Index(b, list)
	line, done := 1, 0
	for d.More() {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, err
		}
		end := start + int(d.InputOffset())
		line, done = line+bytes.Count(b[done:end-len(raw)], []byte("\n")), end-len(raw)
		if err := r.add(raw, line, len(b)); err != nil {
			return nil, err
		}
	}
	return r.sheet()
}

// readJSONObject reads an object of paths and labels; if it is none, it returns the lists in it.
func readJSONObject(b, object []byte) (s *Sheet, lists []json.RawMessage, err error) {
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err := d.Token(); err != nil {
		return nil, nil, err
	}
	s = &Sheet{Header: []string{"path", "label"}, Nested: map[string]int{}}
	start, line, done := bytes.Index(b, object), 1, 0
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, nil, err
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, nil, err
		}
		switch raw[0] {
		case '[':
			lists = append(lists, raw)
			continue
		case '{':
			s.Nested["label"] = 1
			continue
		}
		end := start + int(d.InputOffset())
		line, done = line+bytes.Count(b[done:end], []byte("\n")), end
		s.Rows, s.Lines = append(s.Rows, []string{fmt.Sprint(name), cell(raw)}), append(s.Lines, line)
	}
	if len(lists) > 0 || len(s.Nested) > 0 || len(s.Rows) == 0 {
		return nil, lists, nil
	}
	for i, row := range s.Rows {
		if strings.ContainsRune(row[0]+row[1], 0) {
			return nil, nil, fmt.Errorf("line %d: a NUL character", s.Lines[i])
		}
	}
	return s, nil, nil
}
