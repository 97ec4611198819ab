package labels

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// classes decides whether the texts are indices or names, and the class index of each. Vectors have n classes.
func (s *Source) classes(c *Column, t texts, n int) error {
	switch {
	case n > 0 && s.Like == nil:
		c.Type, c.Classes = Index, indices(n)
		return s.indexed(c, t)
	case len(c.Classes) > 0:
		return s.addClasses(c, t)
	case c.Type == Index:
		return s.indexed(c, t)
	case c.Type == Auto && s.Order == nil && numeric(t.list):
		if why := s.whyNotIndices(t, nil); why != "" {
			return s.ambiguousError(t, why)
		}
		c.Type = Index
		return s.indexed(c, t)
	}
	if err := s.askVectors(t, t.list); err != nil {
		return err
	}
	c.Type, c.Classes = Name, slices.Clone(t.list)
	if s.Order != nil {
		var err error
		if c.Classes, err = s.Order(c.Classes); err != nil {
			return err
		}
	} else {
		sortNames(c.Classes)
	}
	c.index = IndexOf(c.Classes)
	return nil
}

// numeric reports whether the list has texts and all are numbers.
func numeric(list []string) bool {
	for _, text := range list {
		if _, ok := parseNumber(text); !ok {
			return false
		}
	}
	return len(list) > 0
}

// indexed interprets the texts as class indices.
func (s *Source) indexed(c *Column, t texts) error {
	c.index = map[string]int64{}
	largest := -1
	for _, text := range t.list {
		n, err := asIndex(text)
		if err != nil {
			return fmt.Errorf("%s: %w", s.where(t, text), err)
		}
		c.index[text] = int64(n)
		largest = max(largest, n)
	}
	c.Classes = indices(max(largest+1, len(c.Classes)))
	return nil
}

// asIndex parses a class index; "3.0", which some programs write for 3, is 3.
func asIndex(text string) (int, error) {
	n, ok := wholeNumber(text)
	if x, isNumber := parseNumber(text); isNumber && x > MaxIndex {
		return 0, fmt.Errorf("%s is too large for a class index (the limit is %d); if the numbers are class names, use --label-type name; if they are numbers to predict, float", text, MaxIndex)
	}
	if !ok {
		return 0, fmt.Errorf("%q is not a class index: give a whole number from 0, or -1 or nothing for no label", text)
	}
	return n, nil
}

// addClasses adds new classes after those of the dataset.
func (s *Source) addClasses(c *Column, t texts) error {
	if s.Type != Name && areIndices(c.Classes) && numeric(t.list) {
		if s.Type == Auto {
			if why := s.whyNotIndices(t, c.Classes); why != "" {
				return fmt.Errorf("%s, but the dataset's classes are the indices 0 to %d. Choose what the numbers are: "+
					"--label-type index (class indices, with gaps) or name (class names)", why, len(c.Classes)-1)
			}
		}
		c.Type = Index
		return s.indexed(c, t)
	}
	var more []string
	for _, text := range t.list {
		if _, ok := c.existing[text]; !ok {
			more = append(more, text)
		}
	}
	if err := s.askVectors(t, more); err != nil {
		return err
	}
	if s.likelyMistake(t, more) {
		return fmt.Errorf("%s has %s, but the dataset's classes have names such as %s. Give names, or use --label-type name "+
			"if each number is the name of a new class", s.where(t, more[0]), more[0], c.Classes[0])
	}
	if s.Order != nil && len(more) > 0 {
		var err error
		if more, err = s.Order(more); err != nil {
			return err
		}
		more = slices.DeleteFunc(more, func(name string) bool { _, ok := c.existing[name]; return ok })
	} else {
		sortNames(more)
	}
	c.Type, c.Classes = Name, append(slices.Clip(c.Classes), more...)
	c.index = IndexOf(c.Classes)
	return nil
}

// likelyMistake reports whether more, new classes of a dataset whose classes have names, are
// probably a mistake: they are numbers that the user declared to be indices, or all cells are such
// numbers.
func (s *Source) likelyMistake(t texts, more []string) bool {
	switch s.Type {
	case Index:
		return numeric(more)
	case Auto:
		return s.Order == nil && len(more) == len(t.list) && numeric(more)
	}
	return false
}

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

// ClassesOf returns the classes that the different texts of labels are, and the index of each text, for sources whose users have
// not said what they are: whole numbers are class indices, perhaps with gaps, unless one is too large for that; other texts are names, sorted bytewise. The
// error is about other numbers and lists of numbers, which are not classes.
func ClassesOf(texts []string) (classes []string, index map[string]int64, err error) {
	if _, are := AreVectors(texts); are {
		return nil, nil, fmt.Errorf("the labels are lists of numbers, such as %q, and no classes", texts[0])
	}
	tooLarge := func(text string) bool { x, _ := parseNumber(text); return x > MaxIndex && x == math.Trunc(x) }
	if !numeric(texts) || slices.ContainsFunc(texts, tooLarge) {
		classes = slices.Sorted(slices.Values(texts))
		return classes, IndexOf(classes), nil
	}
	index = map[string]int64{}
	highest := -1
	for _, text := range texts {
		n, err := asIndex(text)
		if err != nil {
			return nil, nil, fmt.Errorf("the labels are numbers, of which %s is no class index", text)
		}
		index[text] = int64(n)
		highest = max(highest, n)
	}
	return indices(highest + 1), index, nil
}
