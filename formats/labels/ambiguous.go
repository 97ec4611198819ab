package labels

import (
	"cmp"
	"fmt"
	"slices"
)

func (s *Source) where(t texts, text string) string { return s.Where(t.first[text]) }

// whyNotIndices reports why the numbers, together with the existing classes, are not all of 0 to
// n-1; "" if they are.
func (s *Source) whyNotIndices(t texts, classes []string) string {
	next := map[int]bool{}
	for _, text := range t.list {
		n, ok := wholeNumber(text)
		if !ok {
			return fmt.Sprintf("%s has %s", s.where(t, text), text)
		}
		if n >= len(classes) {
			next[n] = true
		}
	}
	for n := range next {
		if n < len(classes)+len(next) {
			continue
		}
		gap := len(classes)
		for next[gap] {
			gap++
		}
		return fmt.Sprintf("there is no %d (%s)", gap, s.describeLargest(t))
	}
	return ""
}

// describeLargest returns the line and the text of the largest number.
func (s *Source) describeLargest(t texts) string {
	text := slices.MaxFunc(t.list, byValue)
	return fmt.Sprintf("%s has %s", s.where(t, text), text)
}

func byValue(a, b string) int {
	x, _ := parseNumber(a)
	y, _ := parseNumber(b)
	return cmp.Compare(x, y)
}

// ambiguousError is the error about numbers whose meaning the user must choose.
func (s *Source) ambiguousError(t texts, why string) error {
	smallest, largest := slices.MinFunc(t.list, byValue), slices.MaxFunc(t.list, byValue)
	if n, ok := parseIndex(largest); ok && smallest == "1" && n == len(t.list) && !slices.ContainsFunc(t.list, func(text string) bool { _, ok := parseIndex(text); return !ok }) {
		return fmt.Errorf("it has all numbers from 1 to %d, and no 0, which class indices begin with. "+
			"Choose what they are: --label-type name (classes with these names; by number, 1 gets the index 0 and %d the index %d), "+
			"index (indices as they are, of %d classes of which 0 is empty) or float (numbers to predict)", n, n, n-1, n+1)
	}
	return fmt.Errorf("it has %d different numbers from %s to %s, but class indices would be all of 0 to n-1: %s. "+
		"Choose what they are: --label-type index (class indices, with gaps), name (class names) or float (numbers to predict)",
		len(t.list), smallest, largest, why)
}
