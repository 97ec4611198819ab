package tables

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
	var r jsonRows // of an object of paths and labels
	var lists [][]byte
	others := false
	err := each(b, trimmed, func(name json.Token, raw json.RawMessage, line int) error {
		switch raw[0] {
		case '[':
			lists = append(lists, raw)
		case '{':
			others = true
		default:
			path, err := json.Marshal(name)
			return errors.Join(err, r.add(map[string]json.RawMessage{"path": path, "label": raw}, line, len(b)))
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(lists) == 1:
		return readJSONList(b, lists[0])
	case len(lists) == 0 && !others && len(r.objects) > 0:
		return r.sheet()
	}
	return nil, errJSON
}

var errJSON = errors.New(`it is not a description of labels that dsconv unpack wrote, not a list such as [{"file_name": "a.jpg", "label": "cat"}], and not an object such as {"a.jpg": "cat"}`)

// readJSONList reads a list of objects or of pairs.
func readJSONList(b, list []byte) (*Sheet, error) {
	var r jsonRows
	err := each(b, list, func(_ json.Token, raw json.RawMessage, line int) error {
		var object map[string]json.RawMessage
		var pair []json.RawMessage
		if err := json.Unmarshal(raw, &object); err != nil {
			if json.Unmarshal(raw, &pair) != nil || len(pair) != 2 {
				return notObject(line, err)
			}
			object = map[string]json.RawMessage{"path": pair[0], "label": pair[1]}
		}
		return r.add(object, line, len(b))
	})
	if err != nil {
		return nil, err
	}
	return r.sheet()
}

func notObject(line int, err error) error {
	return fmt.Errorf("line %d: not a JSON object such as {\"path\": \"a.jpg\"}: %w", line, err)
}

// each calls yield for each member of an object, or value of a list, in b, with the line that the value is on.
func each(b, of []byte, yield func(name json.Token, raw json.RawMessage, line int) error) error {
	d := json.NewDecoder(bytes.NewReader(of))
	if _, err := d.Token(); err != nil {
		return err
	}
	start, line, done := bytes.Index(b, of), 1, 0
	for d.More() {
		var name json.Token
		var raw json.RawMessage
		var err error
		if of[0] == '{' {
			name, err = d.Token()
		}
		if err = errors.Join(err, d.Decode(&raw)); err != nil {
			return err
		}
		at := start + int(d.InputOffset()) - len(raw)
		line, done = line+bytes.Count(b[done:at], []byte("\n")), at
		if err := yield(name, raw, line); err != nil {
			return err
		}
	}
	return nil
}

// jsonRows are objects that become rows. They may have different names; the columns are all of them, sorted,
// because objects are unordered.
type jsonRows struct {
	objects []map[string]json.RawMessage
	names   map[string]bool
	nested  map[string]int
	lines   []int
}

// add adds an object of a file of size bytes.
func (r *jsonRows) add(object map[string]json.RawMessage, line, size int) error {
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
	if err := checkColumnCount(len(r.names)); err != nil {
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
	s := &Sheet{Header: slices.Sorted(maps.Keys(r.names)), nested: r.nested, Lines: r.lines}
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
			return nil, notObject(line, err)
		}
		if err := r.add(object, line, len(b)); err != nil {
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
