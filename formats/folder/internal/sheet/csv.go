package sheet

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// readCSV reads a header and rows with as many cells.
func readCSV(b []byte, comma rune) (*Sheet, error) {
	r := csv.NewReader(bytes.NewReader(b))
	r.Comma = comma
	r.LazyQuotes = comma == '\t'
	r.FieldsPerRecord = -1
	s := new(Sheet)
	var err error
	if s.Header, err = r.Read(); errors.Is(err, io.EOF) {
		return nil, errors.New("it is empty")
	} else if err != nil {
		return nil, err
	}
	if err := CheckColumnCount(len(s.Header)); err != nil {
		return nil, err
	}
	for i, name := range s.Header {
		s.Header[i] = strings.TrimSpace(name)
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
		if len(row) != len(s.Header) {
			return nil, fmt.Errorf("line %d: %d cells, the header has %d", line, len(row), len(s.Header))
		}
		s.Rows, s.Lines = append(s.Rows, row), append(s.Lines, line)
	}
}
