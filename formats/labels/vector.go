package labels

import (
	"fmt"
	"strings"

	"github.com/dsconv/dsconv/formats"
)

// vectorOf returns the numbers of a text that is a list of them, such as "[0, 1, 0]" or "1 0 0 1", or none; a single number is
// no list. hot are the values as bytes if all are 0 and 1, else nil.
func vectorOf(text string) (n int, hot []byte) {
	parts := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("[](){},; \t\r\n", r) })
	for _, part := range parts {
		x, ok := parseNumber(part)
		if !ok || len(parts) < 2 {
			return 0, nil
		}
		if x == 0 || x == 1 {
			hot = append(hot, byte(x))
		}
	}
	if len(hot) != len(parts) {
		hot = nil
	}
	return len(parts), hot
}

// AreVectors reports whether the texts are lists of numbers, none of which is the name of a class. If they
// are as long as each other and have 0 and 1 alone, n is their length, and they say of each of n classes
// whether it is set; it is 0 for other lists.
func AreVectors(texts []string) (n int, are bool) {
	for i, text := range texts {
		length, hot := vectorOf(text)
		if length == 0 {
			return 0, false
		}
		if i == 0 {
			n = len(hot)
		} else if len(hot) != n {
			n = 0
		}
	}
	return n, len(texts) > 0
}

// Hot returns the 0 and 1 in a text that is a list of them, as a multi-hot label has them.
func Hot(text string) ([]byte, error) {
	if _, hot := vectorOf(text); hot != nil {
		return hot, nil
	}
	return nil, fmt.Errorf("%w: the label %q is not a list of 0 and 1", formats.ErrSchema, text)
}

// vectors returns the length of the lists of 0 and 1 that cells with several labels have instead, 0 if they have none. A list of
// two may as well be two labels.
func (s *Source) vectors() int {
	var texts []string
	for _, cell := range s.Cells {
		if cell = strings.TrimSpace(cell); cell != "" {
			texts = append(texts, strings.ReplaceAll(cell, s.Sep, " "))
		}
	}
	if n, _ := AreVectors(texts); s.Sep != "" && s.Type == Auto && n > 2 {
		return n
	}
	return 0
}

// askVectors is the error about cells that are lists of numbers, if all in the list are.
func (s *Source) askVectors(t texts, list []string) error {
	n, are := AreVectors(list)
	if !are || s.Type != Auto || s.Order != nil || s.Sep != "" {
		return nil
	}
	advice := "--label-type name takes each such text for the name of a class"
	if n > 0 {
		advice = "--label-sep with what is between them reads one 0 or 1 for each class, as a multi-hot label; " + advice
	}
	return fmt.Errorf("%s has %q, a list of numbers and not one label: %s; --label-columns label= leaves the labels out", s.where(t, list[0]), list[0], advice)
}
