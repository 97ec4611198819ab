package labels

import (
	"fmt"
	"strings"

	"github.com/dsconv/dsconv/formats"
)

// vectorOf returns the numbers of a text that is a list of them, such as "[0, 1, 0]" or "1 0 0 1"; ok is false for other
// texts, and for a single number.
func vectorOf(text string) (parts []string, ok bool) {
	parts = strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("[](){},; \t\r\n", r) })
	for _, part := range parts {
		if _, ok := parseNumber(part); !ok {
			return nil, false
		}
	}
	return parts, len(parts) > 1
}

// AreVectors reports whether the texts are lists of numbers, none of which is the name of a class. If they
// are as long as each other and have 0 and 1 alone, n is their length, and they say of each of n classes
// whether it is set; it is 0 for other lists.
func AreVectors(texts []string) (n int, are bool) {
	for i, text := range texts {
		parts, ok := vectorOf(text)
		if !ok {
			return 0, false
		}
		if _, hot := setOf(parts); !hot || i > 0 && n != len(parts) {
			n = 0
		} else if i == 0 {
			n = len(parts)
		}
	}
	return n, len(texts) > 0
}

// setOf returns the positions of the ones among zeros and ones.
func setOf(parts []string) (set []int, ok bool) {
	for i, part := range parts {
		x, _ := parseNumber(part)
		if x == 1 {
			set = append(set, i)
		} else if x != 0 {
			return nil, false
		}
	}
	return set, true
}

// Hot returns the 0 and 1 in a text that is a list of them, as a multi-hot label has them.
func Hot(text string) ([]byte, error) {
	parts, are := vectorOf(text)
	set, ok := setOf(parts)
	if !are || !ok {
		return nil, fmt.Errorf("%w: the label %q is not a list of 0 and 1", formats.ErrSchema, text)
	}
	hot := make([]byte, len(parts))
	for _, i := range set {
		hot[i] = 1
	}
	return hot, nil
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

// askVectors is the error about cells that are lists of numbers, if all are.
func (s *Source) askVectors(t texts, list []string) error {
	n, are := AreVectors(list)
	if !are || s.Type != Auto || s.Order != nil || s.Sep != "" {
		return nil
	}
	text := list[0]
	advice := "--label-type name takes each such text for the name of a class"
	if n > 0 {
		advice = "--label-sep with what is between them reads one 0 or 1 for each class, as a multi-hot label; " + advice
	}
	return fmt.Errorf("%s has %q, a list of numbers and not one label: %s; --label-columns label= leaves the labels out", s.where(t, text), text, advice)
}
