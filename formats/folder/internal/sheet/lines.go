package sheet

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// ReadLines reads a file without a header: a path and a label on each line, or only a path. With tabs each line
// has as many cells as there are; else the label is what follows the last space.
func ReadLines(b []byte) (*Sheet, error) {
	s := &Sheet{Header: []string{"path"}}
	text := string(b)
	separated := allHave(text, "\t")
	labelled := separated || allHave(text, " ")
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, " \r\n")
		if strings.TrimSpace(line) == "" {
			continue
		}
		row := []string{line}
		if separated {
			row = strings.Split(line, "\t")
		} else if at := strings.LastIndexByte(line, ' '); labelled {
			row = []string{strings.TrimRight(line[:at], " "), line[at+1:]}
		}
		if err := CheckColumnCount(len(row)); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if len(s.Rows) == 0 {
			s.Header = lineColumns(len(row))
		} else if len(row) != len(s.Header) {
			return nil, fmt.Errorf("line %d: %d cells, the lines before have %d", n, len(row), len(s.Header))
		}
		s.Rows, s.Lines = append(s.Rows, row), append(s.Lines, n)
	}
	if len(s.Rows) == 0 {
		return nil, errors.New("it is empty")
	}
	return s, nil
}

// allHave reports whether each line that is not blank has the separator within its text.
func allHave(text, separator string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.Contains(line, separator) {
			return false
		}
	}
	return true
}

// lineColumns are the names of the columns of a file without a header.
func lineColumns(n int) []string {
	columns := []string{"path", "label"}[:min(n, 2)]
	for i := 2; i < n; i++ {
		columns = append(columns, fmt.Sprintf("column%d", i+1))
	}
	return columns
}

// ReadListLines is ReadLines, but a line that ends in the name of an image is a path, whatever spaces it has.
func ReadListLines(b []byte) (*Sheet, error) {
	s := &Sheet{Header: []string{"path"}}
	n := 0
	for line := range strings.Lines(string(b)) {
		n++
		if line = strings.TrimRight(line, "\r\n"); strings.TrimSpace(line) == "" {
			continue
		}
		if !vfs.HasImageName(line) {
			return ReadLines(b)
		}
		s.Rows, s.Lines = append(s.Rows, []string{line}), append(s.Lines, n)
	}
	if len(s.Rows) == 0 {
		return nil, errors.New("it is empty")
	}
	return s, nil
}
