package diff

import (
	"slices"
	"strconv"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/labels"
)

// className is the name of a class, or its index if only one of the datasets has names.
func className(f *formats.Field, class int64, named bool) string {
	if named && class >= 0 && class < int64(len(f.Classes)) {
		return f.Classes[class]
	}
	return strconv.FormatInt(class, 10)
}

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
			names = append(names, className(f, int64(i), named))
		}
	}
	slices.Sort(names)
	return names
}

func oneLabel(f *formats.Field, x int64, named bool) []string {
	if x == formats.NoLabel {
		return nil
	}
	return []string{className(f, x, named)}
}

// labelDifference compares two lists of classes.
func labelDifference(name string, from, to []string) []Difference {
	if slices.Equal(from, to) {
		return nil
	}
	return []Difference{{Aspect: Label, Field: name, From: from, To: to}}
}

// bothNamed reports whether classes can be compared by name.
func bothNamed(a, b *formats.Field) bool { return len(a.Classes) > 0 && len(b.Classes) > 0 }
