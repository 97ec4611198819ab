package main

import (
	"maps"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// screen is a terminal that understands what dsconv and bash print: text, \r, \n, \b, \a, erase to the end
// of the line or screen, cursor left and right. Anything else is an error: it would need a better terminal.
type screen struct {
	mu       sync.Mutex
	width    int
	rows     [][]string // of cells; the second cell of a wide character is ""
	row, col int
	wraps    map[int]bool // rows that go on in the next one
	rest     string       // an unfinished sequence or character
	most     int          // the most rows that were not empty, of all moments
	unknown  []string

	sequences int // how many there were
}

func newScreen(width int) *screen {
	return &screen{width: width, rows: [][]string{{}}, wraps: map[int]bool{}}
}

// Write shows b.
func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.rest + string(b)
	for text != "" {
		n := s.next(text)
		if n == 0 {
			break
		}
		text = text[n:]
		s.most = max(s.most, len(s.lines()))
	}
	s.rest = text
	return len(b), nil
}

// next shows the first character or sequence of text, and returns its length; 0 if it is not complete.
func (s *screen) next(text string) int {
	switch text[0] {
	case '\r':
		s.col = 0
	case '\n':
		s.row++ // the kernel adds a \r
		s.extend()
	case '\b':
		s.col = max(s.col-1, 0)
	case '\a':
	case '\t':
		s.col = min(s.col+8-s.col%8, s.width-1)
	case '\x1b':
		return s.sequence(text)
	default:
		if !utf8.FullRuneInString(text) {
			return 0
		}
		r, n := utf8.DecodeRuneInString(text)
		s.put(r)
		return n
	}
	return 1
}

// sequence obeys an escape sequence such as ESC [ 2 K.
func (s *screen) sequence(text string) int {
	if len(text) < 2 {
		return 0
	}
	end := strings.IndexFunc(text[2:], func(r rune) bool { return r >= '@' && r <= '~' })
	switch {
	case text[1] != '[':
		s.unknown = append(s.unknown, text[:2])
		return 2
	case end < 0:
		return 0
	}
	s.sequences++
	parameter, end := text[2:2+end], 2+end
	n, _ := strconv.Atoi(parameter)
	switch text[end] {
	case 'J':
		s.rows = s.rows[:s.row+1]
		maps.DeleteFunc(s.wraps, func(row int, _ bool) bool { return row > s.row })
		s.eraseRow()
	case 'K':
		s.eraseRow()
	case 'C':
		s.col = min(s.col+max(n, 1), s.width-1)
	case 'D':
		s.col = max(s.col-max(n, 1), 0)
	default: // such as colours and modes
		s.unknown = append(s.unknown, text[:end+1])
	}
	return end + 1
}

func (s *screen) eraseRow() {
	delete(s.wraps, s.row)
	if row := s.rows[s.row]; s.col < len(row) {
		s.rows[s.row] = row[:s.col]
	}
}

// put shows a character at the cursor. A row that is full goes on in the next one.
func (s *screen) put(r rune) {
	w := runewidth.RuneWidth(r)
	if w == 0 {
		if row := s.rows[s.row]; s.col > 0 && s.col <= len(row) {
			row[s.col-1] += string(r)
		}
		return
	}
	if s.col+w > s.width {
		s.wraps[s.row] = true
		s.row, s.col = s.row+1, 0
		s.extend()
	}
	row := s.rows[s.row]
	for len(row) < s.col+w {
		row = append(row, " ")
	}
	row[s.col] = string(r)
	if w == 2 {
		row[s.col+1] = ""
	}
	s.rows[s.row], s.col = row, s.col+w
}

func (s *screen) extend() {
	for len(s.rows) <= s.row {
		s.rows = append(s.rows, []string{})
	}
}

// resize gives the screen another width. As most terminals do, it wraps rows that have become too long, and
// keeps the cursor at its character.
func (s *screen) resize(width int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.width = width
	var rows [][]string
	row := s.row
	for i, cells := range s.rows {
		if i == s.row {
			row = len(rows) + s.col/width
		}
		for len(cells) > width {
			rows, cells = append(rows, cells[:width:width]), cells[width:]
		}
		rows = append(rows, cells)
	}
	s.rows, s.row, s.col = rows, row, s.col%width
}

// lines returns the rows without spaces at their ends, and without empty ones at the end.
func (s *screen) lines() []string {
	var lines []string
	for _, row := range s.rows {
		lines = append(lines, strings.TrimRight(strings.Join(row, ""), " "))
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// logical returns the text on the screen as it was written, without the line ends where rows were full.
func (s *screen) logical() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for i := range len(s.lines()) {
		b.WriteString(strings.Join(s.rows[i], ""))
		if !s.wraps[i] {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// text returns what is on the screen.
func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.lines(), "\n")
}

// check fails the test if the program used sequences that a plain terminal may lack.
func (s *screen) check(t *testing.T) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.unknown) > 0 {
		t.Errorf("control sequences: %q", s.unknown)
	}
}
