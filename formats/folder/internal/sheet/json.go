package sheet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
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

// jsonRows are objects that become rows. They may have different names; the columns are all of them, sorted,
// because objects are unordered.
type jsonRows struct {
	objects []map[string]json.RawMessage
	names   map[string]bool
	nested  map[string]int
	lines   []int
}

// add adds an object, or a pair of a path and a label, of a file of size bytes.
func (r *jsonRows) add(raw json.RawMessage, line, size int) error {
	var object map[string]json.RawMessage
	var pair []json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil {
		if json.Unmarshal(raw, &pair) != nil || len(pair) != 2 {
			return fmt.Errorf("line %d: not a JSON object such as {\"path\": \"a.jpg\"}: %w", line, err)
		}
		object = map[string]json.RawMessage{"path": pair[0], "label": pair[1]}
	}
	return r.addObject(object, line, size)
}

func (r *jsonRows) addObject(object map[string]json.RawMessage, line, size int) error {
	if r.names == nil {
		r.names, r.nested = map[string]bool{}, map[string]int{}
	}
	r.objects, r.lines = append(r.objects, object), append(r.lines, line)
	for name, raw := range object {
		r.names[name] = true
		if _, known := r.nested[name]; !known && (raw[0] == '{' || raw[0] == '[') {
			r.nested[name] = line
		}
	}
	// Every object becomes a row of all columns, which must not need much more memory than the file.
	if err := CheckColumnCount(len(r.names)); err != nil {
		return err
	}
	if len(r.names)*len(r.objects) > 4*size+1<<16 {
		return fmt.Errorf("line %d: %d different names so far: too many for a table", line, len(r.names))
	}
	return nil
}

// sheet returns the rows.
func (r *jsonRows) sheet() (*Sheet, error) {
	if len(r.objects) == 0 {
		return nil, errors.New("it is empty")
	}
	s := &Sheet{Header: slices.Sorted(maps.Keys(r.names)), Nested: r.nested, Lines: r.lines}
	for i, object := range r.objects {
		row := make([]string, len(s.Header))
		for k, name := range s.Header {
			if row[k] = cell(object[name]); strings.IndexByte(row[k], 0) >= 0 {
				return nil, fmt.Errorf("line %d: %s has a NUL character", s.Lines[i], name)
			}
		}
		r.objects[i] = nil
		s.Rows = append(s.Rows, row)
	}
	return s, nil
}

// readJSONL reads one object per line.
func readJSONL(b []byte) (*Sheet, error) {
	var r jsonRows
	line := 0
	for text := range bytes.Lines(b) {
		if line++; len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(text, &object); err != nil {
			return nil, fmt.Errorf("line %d: not a JSON object such as {\"path\": \"a.jpg\"}: %w", line, err)
		}
		if err := r.addObject(object, line, len(b)); err != nil {
			return nil, err
		}
	}
	return r.sheet()
}

func cell(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	if string(raw) == "null" {
		return ""
	}
	return string(raw)
}
