package pickle

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxNumber is the longest number in decimal digits.
const maxNumber = 64

// line reads up to the end of the line, which is not part of it.
func (m *machine) line() ([]byte, error) {
	n := bytes.IndexByte(m.in.B, '\n')
	if n < 0 {
		return nil, errTruncated
	}
	return m.in.Take(n + 1)[:n], nil
}

// decimal reads a line that is a number: I (or a bool), L or F.
func (m *machine) decimal(op byte) (any, error) {
	line, err := m.line()
	if err != nil {
		return nil, err
	}
	if len(line) > maxNumber {
		return nil, errors.New("a number of too many digits")
	}
	s := string(line)
	switch {
	case op == 'F':
		x, err := strconv.ParseFloat(s, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return nil, fmt.Errorf("bad number %q", s)
		}
		return x, nil
	case op == 'I' && (s == "00" || s == "01"):
		return s == "01", nil
	}
	x, err := strconv.ParseInt(strings.TrimSuffix(s, "L"), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("bad integer %q", s)
	}
	return x, nil
}

// text returns b as a string. Python writes lone surrogates too, which are not UTF-8: they are an error.
func (m *machine) text(b []byte) (any, error) {
	if err := m.take(len(b)); err != nil {
		return nil, err
	}
	if !utf8.Valid(b) {
		return nil, errors.New("text that is not UTF-8")
	}
	return string(b), nil
}

// quoted reads a str of Python 2 as protocol 0 writes it: Python's own literal.
func (m *machine) quoted() (any, error) {
	line, err := m.line()
	if err != nil {
		return nil, err
	}
	n := len(line)
	if n < 2 || line[0] != line[n-1] || line[0] != '\'' && line[0] != '"' {
		return nil, errors.New("a str without its quotes")
	}
	if err := m.take(n); err != nil {
		return nil, err
	}
	return unquote(line[1 : n-1])
}

// unquote resolves the escapes that repr makes.
func unquote(s []byte) ([]byte, error) {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			out = append(out, s[i])
			continue
		}
		i++
		if i == len(s) {
			return nil, errEscape
		}
		if s[i] == 'x' {
			x, err := hex(s[i+1:], 2)
			if err != nil {
				return nil, err
			}
			out, i = append(out, byte(x)), i+2
			continue
		}
		at := strings.IndexByte(`\'"ntr`, s[i])
		if at < 0 {
			return nil, errEscape
		}
		out = append(out, "\\'\"\n\t\r"[at])
	}
	return out, nil
}

var errEscape = errors.New("a bad escape in text")

// escaped reads a str of Python 3 as protocol 0 writes it: Latin-1, with \u and \U for everything else.
func (m *machine) escaped() (any, error) {
	line, err := m.line()
	if err != nil {
		return nil, err
	}
	if err := m.take(2 * len(line)); err != nil {
		return nil, err
	}
	var out strings.Builder
	for i := 0; i < len(line); i++ {
		digits := 0
		if i+1 < len(line) && line[i] == '\\' {
			digits = map[byte]int{'u': 4, 'U': 8}[line[i+1]]
		}
		if digits == 0 {
			out.WriteRune(rune(line[i]))
			continue
		}
		x, err := hex(line[i+2:], digits)
		if err != nil || !utf8.ValidRune(rune(x)) {
			return nil, errEscape
		}
		out.WriteRune(rune(x))
		i += 1 + digits
	}
	return out.String(), nil
}

// hex reads n hexadecimal digits from the front of s.
func hex(s []byte, n int) (uint32, error) {
	if len(s) < n {
		return 0, errEscape
	}
	x, err := strconv.ParseUint(string(s[:n]), 16, 32)
	if err != nil {
		return 0, errEscape
	}
	return uint32(x), nil
}
