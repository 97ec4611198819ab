package folder

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// readCSV reads a header and rows with as many cells.
func readCSV(b []byte, comma rune) (*sheet, error) {
	r := csv.NewReader(bytes.NewReader(b))
	r.Comma = comma
	r.LazyQuotes = comma == '\t'
	r.FieldsPerRecord = -1
	s := new(sheet)
	var err error
	if s.header, err = r.Read(); errors.Is(err, io.EOF) {
		return nil, errors.New("it is empty")
	} else if err != nil {
		return nil, err
	}
	if err := checkColumnCount(len(s.header)); err != nil {
		return nil, err
	}
	for i, name := range s.header {
		s.header[i] = strings.TrimSpace(name)
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		if err != nil {
			return nil, err
		}
		line, _ := r.FieldPos(0)
		if len(row) != len(s.header) {
			return nil, fmt.Errorf("line %d: %d cells, the header has %d", line, len(row), len(s.header))
		}
		s.rows, s.lines = append(s.rows, row), append(s.lines, line)
	}
}

func checkColumnCount(n int) error {
	if n > maxColumns {
		return fmt.Errorf("it has %d columns, the limit is %d", n, maxColumns)
	}
	return nil
}

// readJSONL reads one object per line.
func readJSONL(b []byte) (*sheet, error) {
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
