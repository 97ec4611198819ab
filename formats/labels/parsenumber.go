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
