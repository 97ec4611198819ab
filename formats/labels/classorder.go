package labels

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// sortNames sorts bytewise, but puts the numbers, in the places that they have then, by their
// value: what is no number stays where ImageFolder would have it.
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

// indices are the names of n classes that are called by their index.
func indices(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return names
}

// areIndices reports whether classes are called by their index.
func areIndices(classes []string) bool {
	for i, name := range classes {
		if n, ok := parseIndex(name); !ok || n != i {
			return false
		}
	}
	return len(classes) > 0
}

func indexOf(names []string) map[string]int64 {
	index := make(map[string]int64, len(names))
	for i, name := range names {
		index[name] = int64(i)
	}
	return index
}
