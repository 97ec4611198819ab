package labels

import (
	"fmt"
	"math"
	"slices"
)

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
