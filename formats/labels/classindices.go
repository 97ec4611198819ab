package labels

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/wire"
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
	return len(list) > 0 && !slices.ContainsFunc(list, func(text string) bool { _, ok := parseNumber(text); return !ok })
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
	all := s.Type == Auto && s.Order == nil && len(more) == len(t.list)
	return (s.Type == Index || all) && numeric(more)
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
		largest := slices.MaxFunc(t.list, byValue)
		return fmt.Sprintf("there is no %d (%s has %s)", gap, s.where(t, largest), largest)
	}
	return ""
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

// MaxIndex is the largest class index allowed: the dataset names a class for each index up to
// the largest one used.
const MaxIndex = formats.MaxClasses - 1

// parseNumber parses a text that people would write for a number. A text such as "007" is a name.
func parseNumber(text string) (x float64, ok bool) {
	digits := strings.TrimLeft(text, "+-")
	if len(text)-len(digits) > 1 || digits == "" || strings.Trim(digits, "0123456789.eE+-") != "" {
		return 0, false
	}
	if digits[0] == '0' && len(digits) > 1 && digits[1] >= '0' && digits[1] <= '9' {
		return 0, false
	}
	x, err := strconv.ParseFloat(text, 64)
	return x, err == nil
}

// parseIndex parses a class index written as a whole number: "3", not "3.0".
func parseIndex(text string) (n int, ok bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 0 && strconv.Itoa(n) == text
}

// wholeNumber parses a whole number from 0, also one that is written "3.0".
func wholeNumber(text string) (n int, ok bool) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, false
	}
	return wire.Whole(x, math.MaxInt32)
}

// NaN returns the number of a sample that has none, always with the same bits.
func NaN() float32 { return math.Float32frombits(0x7fc00000) }

// parseFloat parses a number to predict; "" and nan are NaN.
func parseFloat(text string) (x float32, ok bool) {
	if text == "" || strings.EqualFold(text, "nan") {
		return NaN(), true
	}
	if strings.Trim(text, "0123456789.eE+-") != "" {
		return 0, false // Go would also parse hexadecimal and infinite numbers
	}
	v, err := strconv.ParseFloat(text, 32)
	return float32(v), err == nil
}

// FormatFloat formats x so that parsing returns the same bits; NaN is "".
func FormatFloat(x float32) string {
	if x != x { // only NaN differs from itself
		return ""
	}
	return strconv.FormatFloat(float64(x), 'g', -1, 32)
}

// sortNames sorts bytewise, then sorts the numbers among the names by value, within the positions
// that they have. Other names keep the positions that ImageFolder would give them.
func sortNames(names []string) {
	slices.Sort(names)
	var positions []int
	var numbers []string
	values := map[string]float64{}
	for i, name := range names {
		if x, ok := parseNumber(name); ok {
			values[name] = x
			positions, numbers = append(positions, i), append(numbers, name)
		}
	}
	slices.SortFunc(numbers, func(a, b string) int {
		return cmp.Or(cmp.Compare(values[a], values[b]), strings.Compare(a, b))
	})
	for k, i := range positions {
		names[i] = numbers[k]
	}
}

// indices returns the names of n classes that are named by their index.
func indices(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return names
}

// areIndices reports whether classes are named by their index.
func areIndices(classes []string) bool {
	for i, name := range classes {
		if n, ok := parseIndex(name); !ok || n != i {
			return false
		}
	}
	return len(classes) > 0
}

// IndexOf maps class names to their indices.
func IndexOf(names []string) map[string]int64 {
	index := make(map[string]int64, len(names))
	for i, name := range names {
		index[name] = int64(i)
	}
	return index
}

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
