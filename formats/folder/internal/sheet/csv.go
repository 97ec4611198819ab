package sheet

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// dropUnnamed leaves out the columns without a name: the row numbers that pandas writes, and what is after a comma at
// the end of the header.
func (s *Sheet) dropUnnamed() {
	named := make([]int, 0, len(s.Header))
	for i, name := range s.Header {
		if name != "" {
			named = append(named, i)
		}
	}
	left := len(s.Header) - len(named)
	if left == 0 {
		return
	}
	s.notes = append(s.notes, fmt.Sprintf("%d column(s) without a name were left out", left))
	pick := func(row []string) []string {
		for k, i := range named {
			row[k] = row[i]
		}
		return row[:len(named)]
	}
	s.Header = pick(s.Header)
	for i, row := range s.Rows {
		s.Rows[i] = pick(row)
	}
}

// readSeparated reads cells that are separated by usual, or else by what separates those of the header.
func readSeparated(b []byte, usual rune) (*Sheet, error) {
	header, _, _ := bytes.Cut(b, []byte("\n"))
	for _, comma := range []rune{usual, ',', ';', '\t'} {
		if !bytes.ContainsRune(header, comma) {
			continue
		}
		s, err := readCSV(b, comma)
		if err == nil && comma != usual {
			s.notes = append(s.notes, separatedBy(comma))
		}
		return s, err
	}
	return readCSV(b, usual)
}

// separatedBy is the note about a separator that the file's suffix does not say.
func separatedBy(comma rune) string {
	names := map[rune]string{',': "commas", ';': "semicolons", '\t': "tabs"}
	return "its cells are separated by " + names[comma]
}

// readCSV reads a header and rows with as many cells.
func readCSV(b []byte, comma rune) (*Sheet, error) {
	r := csv.NewReader(bytes.NewReader(b))
	r.Comma = comma
	r.LazyQuotes = comma == '\t'
	r.FieldsPerRecord = -1
	s := &Sheet{comma: comma}
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
			s.dropUnnamed()
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
