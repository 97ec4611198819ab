package tables

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// textLine is a line that is not blank.
type textLine struct {
	text string
	n    int // from 1
}

// readLines reads a file without a header: a path and a label on each line, or only a path. With tabs, or with commas
// and no spaces, each line has as many cells as there are; else the label is what follows the last space. A line that
// ends in the name of an image is a path, whatever spaces it has.
func readLines(b []byte) (*Sheet, error) {
	var lines []textLine
	n := 0
	for text := range strings.Lines(string(b)) {
		n++
		if text = strings.TrimRight(text, " \r\n"); strings.TrimSpace(text) != "" {
			lines = append(lines, textLine{text, n})
		}
	}
	if len(lines) == 0 {
		return nil, errors.New("it is empty")
	}
	separator, err := lineSeparator(lines)
	if err != nil {
		return nil, err
	}
	s := &Sheet{text: true, spaced: separator == " "}
	if separator == "," || separator == ";" {
		s.notes = []string{separatedBy(rune(separator[0]))}
	}
	for _, line := range lines {
		row := line.cells(separator)
		if err := checkColumnCount(len(row)); err != nil {
			return nil, fmt.Errorf("line %d: %w", line.n, err)
		}
		if s.Header == nil {
			s.Header = lineColumns(len(row))
		} else if len(row) != len(s.Header) {
			return nil, fmt.Errorf("line %d: %d cells, the lines before have %d", line.n, len(row), len(s.Header))
		}
		s.Rows, s.Lines = append(s.Rows, row), append(s.Lines, line.n)
	}
	return s, nil
}

// cells splits the line.
func (l textLine) cells(separator string) []string {
	switch separator {
	case "":
		return []string{l.text}
	case " ":
		at := strings.LastIndexByte(l.text, ' ')
		return []string{strings.TrimRight(l.text[:at], " "), l.text[at+1:]}
	}
	return strings.Split(l.text, separator)
}

// has reports whether the line has a separator before a label.
func (l textLine) has(separator string) bool {
	return strings.Contains(strings.TrimSpace(l.text), separator) && !vfs.HasImageName(l.text)
}

// lineSeparator returns what is between path and label; "" if no line has a label. A line without one among others must
// not make paths of all, so it is an error.
func lineSeparator(lines []textLine) (string, error) {
	for _, separator := range []string{"\t", " "} {
		with := slices.IndexFunc(lines, func(l textLine) bool { return l.has(separator) })
		if with < 0 {
			continue
		}
		if i := slices.IndexFunc(lines, func(l textLine) bool { return !l.has(separator) }); i >= 0 {
			return "", fmt.Errorf("line %d, %s, has no label, but line %d, %s, has one: give each line a label, or none", lines[i].n, ListNames([]string{lines[i].text}), lines[with].n, ListNames([]string{lines[with].text}))
		}
		return separator, nil
	}
	for _, separator := range []string{",", ";"} {
		n := strings.Count(lines[0].text, separator)
		if n > 0 && !slices.ContainsFunc(lines, func(l textLine) bool { return !l.has(separator) || strings.Count(l.text, separator) != n }) {
			return separator, nil
		}
	}
	return "", nil
}

// lineColumns are the names of the columns of a file without a header.
func lineColumns(n int) []string {
	columns := []string{"path", "label"}[:min(n, 2)]
	for i := 2; i < n; i++ {
		columns = append(columns, fmt.Sprintf("column%d", i+1))
	}
	return columns
}

// takeHeader makes the first line of a file without a header one, if its words are usual headers and no image has such
// a path.
func (s *Sheet) takeHeader(exists func(path string) bool) {
	if !s.text || len(s.Rows) < 2 {
		return
	}
	first := s.Rows[0]
	if !isHeader(pathHeaders, first[0]) || len(first) > 1 && !slices.ContainsFunc(first[1:], func(name string) bool { return isHeader(labelHeaders, name) }) || exists(first[0]) {
		return
	}
	s.Header, s.Rows, s.Lines = first, s.Rows[1:], s.Lines[1:]
	s.notes = append(s.notes, "its first line has the names of the columns: "+ListNames(first))
}

func isHeader(lists [][]string, name string) bool {
	return slices.ContainsFunc(lists, func(list []string) bool { return slices.Contains(list, plainHeader(name)) })
}

// firstWords returns the lines read otherwise: the first word is the path, the rest the label. It is nil if that is no
// difference.
func (s *Sheet) firstWords() *Sheet {
	if !s.spaced || !slices.ContainsFunc(s.Rows, func(row []string) bool { return strings.Contains(row[0], " ") }) {
		return nil
	}
	other := *s
	other.notes = append(slices.Clone(s.notes), "the first word of each line is the path, and the rest the label")
	other.Rows = make([][]string, len(s.Rows))
	for i, row := range s.Rows {
		first, rest, _ := strings.Cut(row[0]+" "+row[1], " ")
		other.Rows[i] = []string{first, strings.TrimSpace(rest)}
	}
	return &other
}

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
	if err := checkColumnCount(len(s.Header)); err != nil {
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
