package diff

import (
	"slices"
	"strconv"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/labels"
)

// labelNames are the classes that a value of a label field holds, sorted by name, or its number.
func labelNames(f *formats.Field, v *formats.Value, named bool) []string {
	switch f.Kind {
	case formats.Number:
		x, _ := v.Float32()
		return listOf(labels.FormatFloat(x))
	case formats.Label:
		x, _ := v.Int64()
		return oneLabel(f, x, named)
	}
	var names []string
	for i, hot := range v.Data {
		if hot != 0 {
			names = append(names, oneLabel(f, int64(i), named)...)
		}
	}
	slices.Sort(names)
	return names
}

// oneLabel is the name of a class, or its index if only one of the datasets has names.
func oneLabel(f *formats.Field, x int64, named bool) []string {
	switch {
	case x == formats.NoLabel:
		return nil
	case named && x >= 0 && x < int64(len(f.Classes)):
		return []string{f.Classes[x]}
	}
	return []string{strconv.FormatInt(x, 10)}
}

// labelDifference compares two lists of classes.
func labelDifference(name string, from, to []string) []Difference {
	if slices.Equal(from, to) {
		return nil
	}
	return []Difference{{Aspect: AspectLabel, Field: name, From: from, To: to}}
}

// bothNamed reports whether classes can be compared by name.
func bothNamed(a, b *formats.Field) bool { return len(a.Classes) > 0 && len(b.Classes) > 0 }
