package folder

import (
	"bytes"
	"encoding/csv"
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
