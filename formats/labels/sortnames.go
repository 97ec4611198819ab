package labels

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

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
