package labels

import (
	"cmp"
	"fmt"
	"slices"
)

func (s *Source) where(t texts, text string) string { return s.Where(t.first[text]) }

// incomplete says why numbers, with the classes that there are, are not all of 0 to n-1; "" if
// they are.
func (s *Source) incomplete(t texts, classes []string) string {
	next := map[int]bool{}
	for _, text := range t.list {
		n, ok := whole(text)
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
		return fmt.Sprintf("there is no %d (%s)", gap, s.largest(t))
	}
	return ""
}

// largest tells where the largest number is.
func (s *Source) largest(t texts) string {
	text := slices.MaxFunc(t.list, byValue)
	return fmt.Sprintf("%s has %s", s.where(t, text), text)
}

func byValue(a, b string) int {
	x, _ := number(a)
	y, _ := number(b)
	return cmp.Compare(x, y)
}

// ask is the error about numbers that may be one thing or another.
func (s *Source) ask(t texts, why string) error {
	least, most := slices.MinFunc(t.list, byValue), slices.MaxFunc(t.list, byValue)
	return fmt.Errorf("it has %d different numbers from %s to %s, which are not all of 0 to n-1 as class indices are: %s. "+
		"Say what they are: --label-type index (class indices, with gaps), name (each is the name of a class) or float (numbers to predict)",
		len(t.list), least, most, why)
}
